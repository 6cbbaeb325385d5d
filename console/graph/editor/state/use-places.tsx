/** Where people put nodes: kept at once; that of parts a draft makes with the draft. */
import { Button, Group } from '@mantine/core'
import type { GraphPosition } from '../../../../schemas/types.ts'
import { notifications } from '../../../lib/notices.ts'
import { movesAfter, tidyStep, withPlaces } from '../../draft/draft.ts'
import { findNode } from '../../draft/ids.ts'
import type { Editor } from './use-editor.ts'
import { usePositions } from './use-positions.ts'

/** As long as other acts can be taken back. */
const UNDO_MS = 8_000

interface Places {
  move(moved: readonly GraphPosition[]): void
  /** Forgets where nodes were put, of some or of all; what it did can be taken back. */
  tidy(ids?: readonly string[]): void
}

/** @param isEditing then it is a step of the draft, and is undone as such */
export function usePlaces(editor: Editor, isEditing: boolean): Places {
  const { live, draft, replace, say } = editor
  const positions = usePositions(live)
  return {
    move: (moved) => {
      const fresh = moved.filter(({ node }) => !findNode(live, node))
      if (fresh.length && draft) replace(withPlaces(draft, fresh))
      const kept = moved.filter(({ node }) => findNode(live, node))
      if (kept.length > 0) editor.move(kept)
    },
    tidy: (ids) => {
      const step = tidyStep(positions.now(), ids)
      if (isEditing) {
        editor.act(() => step)
        return
      }
      positions.move(movesAfter(positions.now(), [], [step]))
      say(step.said)
      offerUndo(step.said, () => {
        positions.move(movesAfter(positions.now(), [step], []))
        say('Positions restored')
      })
    },
  }
}

const NOTICE = 'graph-tidied'
let undoOffered: (() => void) | null = null

/** Takes back what was laid out again last, as long as that is offered: by the same key as steps of a draft. @returns whether it was */
export function undoTidied(): boolean {
  const undo = undoOffered
  undo?.()
  return undo !== null
}

function offerUndo(said: string, onUndo: () => void): void {
  notifications.hide(NOTICE)
  const undo = (): void => {
    undoOffered = null
    notifications.hide(NOTICE)
    onUndo()
  }
  undoOffered = undo
  notifications.show({
    id: NOTICE,
    autoClose: UNDO_MS,
    onClose: () => {
      if (undoOffered === undo) undoOffered = null
    },
    message: (
      <Group justify="space-between" wrap="nowrap">
        <span>{said}</span>
        <Button size="compact-xs" variant="default" onClick={undo}>
          Undo
        </Button>
      </Group>
    ),
  })
}
