import Database from "libsql";
import { applySteps } from "./migrations.js";

/**
 * Removes the entries of sandboxes that are gone. The sandbox's id is cut out of each key, so that it is looked up: ranges
 * of keys that are made of each record would be compared with every entry.
 */
export const REMOVE_LEFT = `DELETE FROM activations
     WHERE NOT EXISTS (SELECT 1 FROM records
       WHERE records.id = substr(activations.instance_id, 1, instr(activations.instance_id, '/') - 1));`;

/** As in the other lists: a step that was released is never edited. */
const STEPS: readonly string[] = [
  `CREATE TRIGGER records_gone AFTER DELETE ON records BEGIN
     DELETE FROM activations WHERE instance_id >= OLD.id || '/' AND instance_id < OLD.id || '0';
   END;
   ${REMOVE_LEFT}`,
];

/**
 * Lets what belongs to a record in the same file go with it, in the transaction that removes it, and removes what is left
 * of records that went before. For a file in which both the records and the ledger are.
 */
export function bindBelongings(path: string): void {
  const database = new Database(path, { timeout: 10_000 });
  try {
    applySteps(database, "belongings_migrations", STEPS);
  } finally {
    database.close();
  }
}
