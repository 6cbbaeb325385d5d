/** What is being looked at in the editor: how it is shown, what is selected and opened, what was applied. */
import { useLocalStorage, useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { ProjectGraph } from '../../../../schemas/types.ts'
import { api } from '../../../client.ts'
import { notifications } from '../../../lib/notices.ts'
import { findNode, type PartKind } from '../../draft/ids.ts'
import type { Place } from '../../draft/parts.ts'
import type { Applied } from '../changes/apply-draft.tsx'
import { sayNoParts, usePasting } from '../pasting.tsx'
import { useActions } from './use-actions.ts'
import { useEditor } from './use-editor.ts'
import { useHanding } from './use-handing.ts'
import { undoTidied } from './use-places.tsx'
import { useShortcuts } from './use-shortcuts.ts'

/** What the side panel shows: a node or a connection, a part that is being made, or the draft; null: none of them. */
export type Opened = { id: string } | { made: PartKind; at: Place | null } | { review: true } | null

export type Session = ReturnType<typeof useSession>

/** @param onVisit opens a node's page, while nothing is edited. */
export function useSession(live: ProjectGraph, onVisit: (id: string) => void) {
  const [tab, setTab] = useState('steps')
  const editor = useEditor(live, tab === 'yaml' || live.source_of_truth === 'file')
  const { data: me } = useQuery({ queryKey: ['whoami'], queryFn: api.whoami, staleTime: 60_000 })
  const mayEdit = me?.scopes.includes('admin') ?? false
  // A draft is gone on with until one closes the editor; closing it leaves the draft.
  const [wantsEdit, setWantsEdit] = useState<boolean | null>(null)
  const isEditing = mayEdit && (wantsEdit ?? editor.draft !== null)
  const { handing, actions } = useHanding(editor, useActions(editor, isEditing))
  const [hasPalette, setPalette] = useState(true)
  const [selected, setSelected] = useState<readonly string[]>([])
  // Whoever comes back to a draft, or brings one from a replay, sees what is in it.
  const [opened, setOpened] = useState<Opened>(() => (editor.draft ? { review: true } : null))
  const isGone = useGone(live, opened)
  const [applied, setApplied] = useState<Applied | null>(null)
  const pasting = usePasting(actions, live.project.id, setSelected)
  useShortcuts(isEditing ? 'all' : mayEdit ? 'undo' : 'none', {
    undo: () => {
      const isDone = isEditing ? editor.undo() : undoTidied() || editor.undoMove()
      if (!isDone && applied && applied.change_set !== null)
        notifications.show({ message: 'The draft is applied: “Undo the change” takes it back.' })
    },
    redo: editor.redo,
    copy: () => void actions.copy(selected),
    duplicate: () => pasting.duplicate(selected),
    paste: pasting.begin,
    pasteNothing: sayNoParts,
  })
  return {
    ...useView(),
    editor,
    actions,
    pasting,
    handing,
    mayEdit,
    isEditing,
    begin: () => setWantsEdit(true),
    leave: () => {
      setWantsEdit(false)
      setOpened(null)
    },
    hasPalette,
    setPalette,
    tab,
    setTab,
    selected,
    onSelect: setSelected,
    opened,
    setOpened,
    isGone,
    // With the next step it is of the past, and so is its way back.
    applied: (editor.draft?.cursor ?? 0) > 0 ? null : applied,
    setApplied,
    onOpen: (id: string) => (isEditing ? setOpened({ id }) : onVisit(id)),
  }
}

/** Whether somebody else deleted, took out or renamed what is open: it was stored when it was opened, and is not any more. */
function useGone(live: ProjectGraph, opened: Opened): boolean {
  const seen = useRef<string | null>(null)
  const id = opened !== null && 'id' in opened ? opened.id : null
  if (id === null || findNode(live, id)) seen.current = id
  return id !== null && seen.current === id && !findNode(live, id)
}

/** Drawing or lists: as was chosen, else lists where there is little room. */
function useView() {
  const isNarrow = useMediaQuery('(max-width: 62em)') ?? false
  const [chosen, setView] = useLocalStorage<string | null>({ key: 'svc:project-view', defaultValue: null })
  return { isNarrow, view: chosen ?? (isNarrow ? 'list' : 'canvas'), setView }
}
