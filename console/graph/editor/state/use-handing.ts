/** Connecting agents: on which verdict is asked first, where there are several and none was said. */
import { useState } from 'react'
import { refusal, verdictsFor } from '../../draft/connect.ts'
import type { Connection } from '../../types.ts'
import type { Actions } from './use-actions.ts'
import type { Editor } from './use-editor.ts'

export interface Handing {
  /** What waits for its verdict; null: nothing does. */
  asked: Connection | null
  /** Verdicts it can be on. */
  verdicts: readonly string[]
  choose: (verdict: string) => void
  cancel: () => void
}

/** @returns what is asked, and the actions that ask: canvas, panel and list connect by the same */
export function useHanding({ graph }: Editor, direct: Actions): { handing: Handing; actions: Actions } {
  const [asked, setAsked] = useState<Connection | null>(null)
  const connect: Actions['connect'] = (connection, cooldown) => {
    if (refusal(graph, connection) !== null || verdictsFor(graph, connection).length < 2)
      return direct.connect(connection, cooldown)
    setAsked(connection)
    return false
  }
  const handing: Handing = {
    asked,
    verdicts: asked ? verdictsFor(graph, asked) : [],
    choose: (verdict) => {
      if (asked) direct.connect({ ...asked, verdict })
      setAsked(null)
    },
    cancel: () => setAsked(null),
  }
  return { handing, actions: { ...direct, connect } }
}
