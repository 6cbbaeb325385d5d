/** Keys and clipboard events of the editor, wherever the focus is; what is typed into fields is left alone. */
import { useEffect, useRef } from 'react'
import { type Copied, readCopied } from '../../draft/clipboard.ts'

interface Shortcuts {
  undo(): void
  redo(): void
  copy(): void
  duplicate(): void
  paste(found: Copied): void
  /** Something else than parts was to be pasted. */
  pasteNothing(): void
}

/** @param on undo: nothing is edited, and what was laid out again can be taken back */
export function useShortcuts(on: 'all' | 'undo' | 'none', shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  useEffect(() => {
    if (on === 'none') return
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || isElsewhere(event.target)) return
      const key = event.key.toLowerCase()
      const isCopy = key === 'c' && !event.shiftKey && window.getSelection()?.isCollapsed !== false
      if (key === 'z' && !event.shiftKey) latest.current.undo()
      else if (on === 'undo') return
      else if ((key === 'z' && event.shiftKey) || key === 'y') latest.current.redo()
      else if (isCopy) latest.current.copy()
      else if (key === 'd' && !event.shiftKey) latest.current.duplicate()
      else return
      event.preventDefault()
    }
    const onPaste = (event: ClipboardEvent) => {
      if (on === 'undo' || isElsewhere(event.target)) return
      const found = readCopied(event.clipboardData?.getData('text/plain') ?? '')
      if (!found) return latest.current.pasteNothing()
      event.preventDefault()
      latest.current.paste(found)
    }
    window.addEventListener('keydown', onKey)
    window.addEventListener('paste', onPaste)
    return () => {
      window.removeEventListener('keydown', onKey)
      window.removeEventListener('paste', onPaste)
    }
  }, [on])
}

/** In a field, which has an undo of its own, or in a dialog. */
const isElsewhere = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest(
    'input:not([type=checkbox]):not([type=radio]), textarea, [contenteditable="true"], [role="dialog"]',
  ) !== null
