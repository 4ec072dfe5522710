// Elements of a page, without a library: the page of deliveries has none.

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** @param attributes those that are `false` or missing are left out */
export function create<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  element.append(...content);
  return element;
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

export function toggle(element: HTMLElement, isShown: boolean): void {
  element.style.display = isShown ? "" : "none";
}

/** A screen reader announces a status whenever it is set, even to the same text. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Gives an element other content, and keeps the elements that it has: a press may be on one, the focus in it, a screen
 * reader at it. Those that have a `data-key` are told apart by it. Of what listens to an element, `onclick` is renewed,
 * which finds its element by the event.
 */
export function renewContent(place: Element, content: readonly Node[]): void {
  const former = new Set<Node>(place.childNodes);
  const wanted = content.map((fresh) => {
    const kept = [...former].find((each) => isAlike(each, fresh));
    if (!kept) return fresh;
    former.delete(kept);
    renew(kept, fresh);
    return kept;
  });
  for (const gone of former) place.removeChild(gone);
  let next = place.firstChild;
  for (const node of wanted) {
    if (node === next) next = next.nextSibling;
    else place.insertBefore(node, next);
  }
}

function isAlike(one: Node, other: Node): boolean {
  const keyOf = (node: Node) => (node instanceof HTMLElement ? node.dataset.key : undefined);
  return one.nodeName === other.nodeName && keyOf(one) === keyOf(other);
}

function renew(kept: Node, fresh: Node): void {
  if (!(kept instanceof HTMLElement) || !(fresh instanceof HTMLElement)) {
    if (kept.nodeValue !== fresh.nodeValue) kept.nodeValue = fresh.nodeValue;
    return;
  }
  for (const name of kept.getAttributeNames()) if (!fresh.hasAttribute(name)) kept.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (kept.getAttribute(name) !== value) kept.setAttribute(name, value);
  kept.onclick = fresh.onclick;
  renewContent(kept, [...fresh.childNodes]);
}
