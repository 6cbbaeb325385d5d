/** Where people put nodes: kept at once; that of parts a draft makes with the draft. */
import { Button, Group } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import type { GraphPosition } from '../../../../schemas/types.ts'
import { graphApi, graphKeys } from '../../../graph-client.ts'
import { withoutPlaces, withPlaces } from '../../draft/draft.ts'
import { findNode } from '../../draft/ids.ts'
import { currentDraft, putDraft } from './draft-store.ts'
import type { Editor } from './use-editor.ts'

/** As long as other acts can be taken back. */
const UNDO_MS = 8_000

interface Places {
  move(moved: readonly GraphPosition[]): void
  /** Forgets where nodes were put, of some or of all; what it did can be taken back. */
  tidy(ids?: readonly string[]): void
}

export function usePlaces({ live, draft, replace, say }: Editor): Places {
  const queries = useQueryClient()
  const project = live.project.id
  const put = (positions: readonly GraphPosition[]): void => {
    const key = graphKeys.graph(project)
    queries.setQueryData(key, (now: typeof live | undefined) => ({
      ...(now ?? live),
      positions: [...positions],
    }))
    void graphApi
      .putPositions(project, [...positions])
      .finally(() => queries.invalidateQueries({ queryKey: key }))
  }
  return {
    move: (moved) => {
      const fresh = moved.filter(({ node }) => !findNode(live, node))
      if (fresh.length && draft) replace(withPlaces(draft, fresh))
      const kept = moved.filter(({ node }) => findNode(live, node))
      if (kept.length === 0) return
      put([...live.positions.filter(({ node }) => !kept.some((place) => place.node === node)), ...kept])
    },
    tidy: (ids) => {
      const isLeft = (node: string): boolean => ids !== undefined && !ids.includes(node)
      const before = { positions: live.positions, draft: currentDraft(project) }
      const left = live.positions.filter(({ node }) => isLeft(node))
      if (left.length < live.positions.length) put(left)
      if (before.draft) putDraft(project, withoutPlaces(before.draft, ids))
      const said = ids ? `${ids.length} laid out again` : 'All laid out again'
      say(`${said}.`)
      offerUndo(said, () => {
        put(before.positions)
        if (before.draft) putDraft(project, before.draft)
        say('Everything stands where it stood.')
      })
    },
  }
}

function offerUndo(said: string, onUndo: () => void): void {
  const id = 'graph-tidied'
  notifications.hide(id)
  notifications.show({
    id,
    autoClose: UNDO_MS,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <span>{said}</span>
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => {
            notifications.hide(id)
            onUndo()
          }}
        >
          Undo
        </Button>
      </Group>
    ),
  })
}
