import { type ComponentChildren, Fragment, type TargetedKeyboardEvent, type TargetedMouseEvent } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { splitCitations } from "../lib/citations";
import { explainError } from "../lib/errors";
import { saidText, t, term } from "../lib/i18n";
import { dismiss, notices } from "../lib/notices";
import { replaceParams } from "../lib/router";
import { useStore } from "../lib/store";
import { Icon, type IconName } from "./icon";

interface ButtonProps {
  children?: ComponentChildren;
  onClick?: (event: TargetedMouseEvent<HTMLButtonElement>) => void;
  icon?: IconName;
  label?: string;
  tone?: "plain" | "primary" | "danger" | "quiet";
  type?: "button" | "submit";
  disabled?: boolean;
  pressed?: boolean;
  title?: string;
}

/** A button; without children it shows only its icon and needs a label. */
export function Button({ children, icon, label, tone = "plain", type = "button", pressed, ...rest }: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${tone}${children ? "" : " icon-only"}`}
      aria-label={label}
      aria-pressed={pressed}
      title={rest.title ?? (children ? undefined : label)}
      disabled={rest.disabled}
      onClick={rest.onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface FieldProps {
  label: string;
  hint?: string;
  children: (id: string, hintId: string | undefined) => ComponentChildren;
}

export function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = hint ? `${id}-hint` : undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id, hintId)}
      {hint && (
        <p id={hintId} class="hint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** Explains an empty view and what fills it. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} size={32} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{explainError(error)}</p>
      {retry && <Button onClick={retry}>{t("action.retry")}</Button>}
    </div>
  );
}

export function Loading() {
  return (
    <p class="loading" role="status">
      {t("state.loading")}
    </p>
  );
}

export function KindBadge({ kind }: { kind: string }) {
  return <span class={`badge kind-${kind}`}>{term("kind", kind)}</span>;
}

interface CitedProps {
  text: string;
  /** Opens a cited turn; without it a turn is named but cannot be opened. */
  onTurn?: (turn: number) => void;
}

/** An answer whose citations, such as [thought:7], open what they cite. */
export function Cited({ text, onTurn }: CitedProps) {
  return (
    <>
      {splitCitations(text).map((part, index) => {
        if (typeof part === "string") return saidText(part);
        const name = t(part.kind === "thought" ? "thought.number" : "thought.openTurn", { id: part.id });
        if (part.kind === "turn" && !onTurn) return <span key={index} class="small muted">{` ${name}`}</span>;
        const open = () => (part.kind === "thought" ? replaceParams({ thought: String(part.id) }) : onTurn!(part.id));
        return (
          <Fragment key={index}>
            {" "}
            <button type="button" class="link small citation" onClick={open}>
              {name}
            </button>
          </Fragment>
        );
      })}
    </>
  );
}

interface DialogProps {
  title: string;
  children: ComponentChildren;
  onClose: () => void;
}

/** A modal dialog: the browser keeps the focus inside, and Escape closes it. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    element.current?.showModal();
    return () => {
      if (opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => event.target === element.current && onClose()}
    >
      <div class="dialog-content">
        <header>
          <h2 id={titleId}>{title}</h2>
          <Button icon="close" label={t("action.close")} tone="quiet" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  text: string;
  action: string;
  onConfirm: () => void;
  onClose: () => void;
}

export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <footer class="actions">
        <Button onClick={onClose}>{t("action.cancel")}</Button>
        <Button
          tone="danger"
          onClick={() => {
            onConfirm();
            onClose();
          }}
        >
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}

export function Notices() {
  const list = useStore(notices);
  return (
    <div class="notices" role="status" aria-live="polite">
      {list.map((notice) => (
        <div key={notice.id} class={`notice ${notice.tone}`}>
          <p>{notice.text}</p>
          {notice.action && (
            <Button
              tone="quiet"
              onClick={() => {
                notice.action!.run();
                dismiss(notice.id);
              }}
            >
              {notice.action.label}
            </Button>
          )}
          <Button icon="close" label={t("action.dismiss")} tone="quiet" onClick={() => dismiss(notice.id)} />
        </div>
      ))}
    </div>
  );
}

interface TabsProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

/** A choice between a few views of the same data; the arrow keys move through it. */
export function Tabs<T extends string>({ label, value, options, onChange }: TabsProps<T>) {
  const move = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const index = options.findIndex(([name]) => name === value);
    const next = options[(index + step + options.length) % options.length]!;
    onChange(next[0]);
    const buttons = event.currentTarget.querySelectorAll<HTMLButtonElement>("[role=tab]");
    buttons[options.indexOf(next)]?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {options.map(([name, text]) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === value}
          tabIndex={name === value ? 0 : -1}
          onClick={() => onChange(name)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
