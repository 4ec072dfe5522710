// What the parts of the form are made of, each of which is a function of what the form has.

import { type ComponentChild, type ComponentChildren, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { loadViews, type Views } from "../deliveries/tab";
import { text } from "../deliveries/texts";
import { RED } from "../node-red";

/**
 * Draws a part into its place in the form. Not where markup has a `data-i18n`: Node-RED writes its text once more after
 * the form is prepared, and Preact does not see that.
 */
export function draw(place: string, part: ComponentChild): void {
  const element = document.getElementById(`webhook-trigger-${place}`);
  if (element) render(part, element);
}

interface NoteProps {
  readonly id: string;
  /** Of Font Awesome. */
  readonly icon?: string;
  readonly text: string;
  readonly children?: ComponentChildren;
}

/** Points something out; nothing where there is no text. */
export function Note({ id, icon = "exclamation-triangle", text, children }: NoteProps) {
  if (text === "") return null;
  return (
    <div class="webhook-trigger-note" id={`webhook-trigger-${id}`}>
      <i class={`fa fa-fw fa-${icon}`} aria-hidden="true" />
      <span>
        <span>{text}</span> {children}
      </span>
    </div>
  );
}

interface IconButtonProps {
  readonly id: string;
  /** Of Font Awesome. */
  readonly icon: string;
  readonly label: string;
  readonly isSmall?: boolean;
  readonly isDisabled?: boolean;
  readonly onClick: (button: JQuery) => void;
}

/** A button with a tooltip. */
export function IconButton({ id, icon, label, isSmall = false, isDisabled = false, onClick }: IconButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const element = $(button.current ?? []);
    RED.popover.tooltip(element, () => element.attr("aria-label") ?? "");
  }, []);
  return (
    <button
      type="button"
      class={`red-ui-button ${isSmall ? "red-ui-button-small" : ""}`}
      id={`webhook-trigger-${id}`}
      ref={button}
      aria-label={label}
      disabled={isDisabled}
      onClick={() => onClick($(button.current ?? []))}
    >
      <i class={`fa fa-${icon}`} aria-hidden="true" />
    </button>
  );
}

interface CopyButtonProps {
  readonly id: string;
  /** Of what is copied. */
  readonly name: string;
  readonly copied: string;
}

export function CopyButton({ id, name, copied }: CopyButtonProps) {
  const copy = (button: JQuery) => RED.clipboard.copyText(copied, button, text("copied"));
  return <IconButton {...{ id }} icon="copy" label={text("copy", { name })} isSmall onClick={copy} />;
}

/** Where to read on, beside the form. */
export function DocsLink({ href, children }: { readonly href: string; readonly children: ComponentChildren }) {
  return (
    <a href={href} target="_blank" rel="noopener">
      {children}
    </a>
  );
}

interface LoadedViewProps {
  readonly id: string;
  /** It is loaded when it first is. */
  readonly isWanted: boolean;
  /** It is drawn anew where this has changed. Missing: with each change of the form. */
  readonly basis?: string;
  /** Draws it in an element. */
  readonly show: (views: Views, element: HTMLElement) => void;
}

/** One of the views that are loaded with the tab. */
export function LoadedView({ id, isWanted, basis, show }: LoadedViewProps) {
  /** `null` where they have not come. */
  const [views, setViews] = useState<Views | null>();
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isWanted || views) return;
    void loadViews().then(setViews, () => setViews(null));
  }, [isWanted]);
  useEffect(
    () => {
      if (views && place.current) show(views, place.current);
    },
    basis === undefined ? undefined : [views, basis],
  );
  return (
    <>
      <div ref={place} />
      <Note id={`${id}-trouble`} text={isWanted && views === null ? text("testRequest.failed") : ""} />
    </>
  );
}
