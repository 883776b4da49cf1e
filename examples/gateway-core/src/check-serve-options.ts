import { checkToken } from "./check-token.js";
import { planFor } from "./gateway/budgets.js";
import { HIDDEN } from "./gateway/secrets.js";
import { InvalidInputError } from "./input-error.js";
import type { ServeOptions } from "./serve-options.js";
import { isPostgresUrl } from "./store/postgres/pool.js";

/** @throws InvalidInputError for options that cannot be used, whatever the machine has */
export function checkServeOptions(options: ServeOptions): void {
  // Budgets that contradict one another are a mistake of whoever starts the gateway, not of whoever uses it.
  planFor(options.budgets, {});
  checkToken("ownerToken", options.ownerToken);
  checkToken("metricsToken", options.metricsToken);
  checkDatabaseUrl(options);
  checkSupervisorUrl(options.supervisorUrl);
  checkNames(options);
}

/** @throws InvalidInputError for one of anything else, which PostgreSQL's client takes for the name of a host */
function checkDatabaseUrl({ storage, databaseUrl }: ServeOptions): void {
  if (storage !== undefined || databaseUrl === undefined) return;
  if (!/^postgres(?:ql)?:\/\//i.test(databaseUrl) || !isPostgresUrl(databaseUrl))
    throw new InvalidInputError("databaseUrl", "a URL that begins with postgres:// or postgresql://", HIDDEN);
}

function checkSupervisorUrl(url: string | undefined): void {
  if (url !== undefined && !URL.canParse(url.replaceAll("{port}", "1")))
    throw new InvalidInputError("supervisorUrl", "a URL, with {port} for the port where wanted", url);
}

function checkNames({ isolationBackend, restartOn = [] }: ServeOptions): void {
  if (isolationBackend !== undefined && !/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(isolationBackend))
    throw new InvalidInputError(
      "isolationBackend",
      "1 to 63 letters, digits, '.', '_' or '-'",
      isolationBackend,
    );
  const reason = restartOn.find((each) => !/^[A-Z][A-Za-z0-9]*$/.test(each));
  if (reason !== undefined) throw new InvalidInputError("restartOn", "a reason in Pascal case", reason);
}
