// @ts-check

/**
 * An element with attributes and children. Text becomes a text node: nothing that anybody wrote is read as markup.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, string>>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * The element of the document with this id.
 *
 * @template {HTMLElement} Kind
 * @param {string} id
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
export function byId(id, kind) {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`the page has no ${kind.name} #${id}`);
}

/**
 * Writes text only where it differs: an untouched node keeps a reader's place and selection.
 *
 * @param {Element} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * @param {Element} node
 * @param {string} name
 * @param {string | null} value `null` takes the attribute away
 */
export function setAttribute(node, name, value) {
  if (value === null) node.removeAttribute(name);
  else if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/**
 * @param {HTMLElement} node
 * @param {boolean} shown
 */
export function show(node, shown) {
  if (node.hidden === shown) node.hidden = !shown;
}

/**
 * @template Item
 * @typedef {object} Part a piece of the page that shows an item
 * @property {HTMLElement} node
 * @property {(item: Item) => void} update
 */

/**
 * Children of a parent, one for each key. What stays is updated in place and not moved, so focus stays in it.
 *
 * @template Item
 */
export class KeyedChildren {
  /** @type {HTMLElement} */
  #parent;
  /** @type {(item: Item) => string} */
  #keyOf;
  /** @type {(item: Item) => Part<Item>} */
  #make;
  /** @type {Map<string, Part<Item>>} */
  #parts = new Map();

  /**
   * @param {HTMLElement} parent
   * @param {(item: Item) => string} keyOf
   * @param {(item: Item) => Part<Item>} make
   */
  constructor(parent, keyOf, make) {
    this.#parent = parent;
    this.#keyOf = keyOf;
    this.#make = make;
  }

  /** @param {readonly Item[]} items */
  update(items) {
    const wanted = new Set(items.map(this.#keyOf));
    for (const [key, part] of this.#parts) {
      if (wanted.has(key)) continue;
      part.node.remove();
      this.#parts.delete(key);
    }
    let place = this.#parent.firstElementChild;
    for (const item of items) {
      const key = this.#keyOf(item);
      const part = this.#parts.get(key) ?? this.#make(item);
      this.#parts.set(key, part);
      if (part.node === place) place = place.nextElementSibling;
      else this.#parent.insertBefore(part.node, place);
      part.update(item);
    }
  }
}
