/** Pauses and resumes what is declared, by its kind and name, with Undo. */

import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { api, keys } from '../client.ts'
import { declared, dkeys } from '../declared-client.ts'
import { notifications } from './notices.ts'
import { sayDone } from './undo.tsx'
import { warningsIn } from './use-change.ts'

export type Move = 'pause' | 'resume'
export type MovedKind = 'source' | 'trigger' | 'agent' | 'project'

export interface Moved {
  kind: MovedKind
  /** Of a project its id. */
  id: string
  name: string
}

const MOVES: Record<MovedKind, (id: string, move: Move) => Promise<unknown>> = {
  source: (id, move) => api.moveSource(id, move),
  trigger: (id, move) => declared.moveTrigger(id, move),
  agent: (id, move) => declared.switchAgent(id, move === 'resume'),
  project: (id, move) => (move === 'pause' ? declared.pauseProject(id, false) : declared.resumeProject(id)),
}

/** @returns does it and says so; Undo does the other */
export function useMoves(): (of: Moved, move: Move) => Promise<void> {
  const queries = useQueryClient()
  return useCallback(
    async (of, move) => {
      const go = async (to: Move, isUndo: boolean): Promise<void> => {
        const [word, back] =
          to === 'pause' ? (['paused', 'resume'] as const) : (['resumed', 'pause'] as const)
        try {
          const warnings = warningsIn(await MOVES[of.kind](of.id, to))
          const id = `moved-${of.kind}-${of.id}`
          const said = [`${of.name} ${word}`, ...warnings].join('. ')
          sayDone(id, said, isUndo ? undefined : () => void go(back, true))
        } catch (error) {
          notifications.show({
            color: 'red',
            title: `Couldn’t ${to} ${of.name}`,
            message: (error as Error).message,
          })
        }
        void queries.invalidateQueries({ queryKey: dkeys.all })
        void queries.invalidateQueries({ queryKey: keys.sources })
      }
      await go(move, false)
    },
    [queries],
  )
}
