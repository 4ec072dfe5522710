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

/** Replaces the content of an element; the focus stays at the same position. */
export function renewContent(place: Element, content: readonly Node[]): void {
  const list = () => [...place.querySelectorAll<HTMLElement>("button, summary, textarea, [tabindex]")];
  const focused = list().findIndex((each) => each === document.activeElement);
  place.replaceChildren(...content);
  if (focused >= 0) list()[focused]?.focus();
}
