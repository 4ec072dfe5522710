// What the parts of the form are made of, each of which is a function of what the form has.

import { type ComponentChild, type ComponentChildren, render } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { loadViews, type Views } from "../deliveries/tab";
import { text } from "../deliveries/texts";
import { RED } from "../node-red";

/** Draws a part into its place in the form. */
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

interface SmallButtonProps {
  readonly id?: string;
  readonly label?: string;
  readonly onClick: () => void;
  readonly children: ComponentChildren;
}

export function SmallButton({ id, label, onClick, children }: SmallButtonProps) {
  return (
    <button
      type="button"
      class="red-ui-button red-ui-button-small"
      id={id && `webhook-trigger-${id}`}
      aria-label={label}
      onClick={onClick}
    >
      {children}
    </button>
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

/** Whether a section is open: its content is asked for then. */
export function useOpenSection(name: string): boolean {
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    const section = $(`#webhook-trigger-section-${name}`);
    const read = () => setOpen(section.prop("open") as boolean);
    section.on("toggle", read);
    read();
  }, []);
  return isOpen;
}

/** The views that are loaded with the tab, when they are first wanted; `null` where they have not come. */
export function useViews(isWanted = true): Views | null | undefined {
  const [views, setViews] = useState<Views | null>();
  useEffect(() => {
    if (!isWanted || views) return;
    void loadViews().then(setViews, () => setViews(null));
  }, [isWanted]);
  return views;
}
