/**
 * While one edits at a desk the page gives its room to the editor: the menu shrinks to its icons, and what else is on
 * the page is not seen. The document says so (`data-room`), and styles/editor.css does it.
 */
import { useLayoutEffect } from 'react'

export function useEditRoom(isOn: boolean): void {
  useLayoutEffect(() => {
    if (!isOn) return
    const { dataset } = document.documentElement
    dataset.room = 'edit'
    return () => {
      delete dataset.room
    }
  }, [isOn])
}
