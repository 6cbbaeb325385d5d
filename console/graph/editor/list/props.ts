/** What the drawing and the lists of the editor are given. */
import type { Actions } from '../state/use-actions.ts'
import type { Editor } from '../state/use-editor.ts'

export interface ListProps {
  editor: Editor
  actions: Actions
  isEditing: boolean
  selected: readonly string[]
  onSelect: (ids: readonly string[]) => void
  onOpen: (id: string) => void
}
