/** A question before something that adds risk; Escape and the backdrop's focus trap are the browser's own. */
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly yes: string;
  readonly onYes: () => void;
  readonly onNo: () => void;
}

export function Confirm({ title, children, yes, onYes, onNo }: ConfirmProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the next key press can arrive: an Escape that is pressed at once must reach the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={id} onClose={onNo}>
      <h2 id={id}>{title}</h2>
      {children}
      <div class="buttons">
        <button type="button" onClick={onNo}>
          Cancel
        </button>
        <button type="button" class="primary" onClick={onYes}>
          {yes}
        </button>
      </div>
    </dialog>
  );
}
