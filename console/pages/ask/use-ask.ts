/** One conversation: what is stored of it, and the answer that is coming in. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useNavigate } from 'react-router'
import type { AskSessionDetail, AskTurn } from '../../../schemas/types.ts'
import { akeys, ask } from '../../ask-client.ts'
import { type CardState, readCards, type Task } from '../../lib/ask.ts'
import { askLive, type Live, useLive } from '../../lib/ask-live.ts'

export interface Asking {
  session: string
  stored: { isPending: boolean; error: Error | null; refetch(): unknown }
  /** Those that the live one does not take the place of. */
  turns: AskTurn[]
  /** So many of the first turns the next question is not told of. */
  leftOut: number
  live: Live | undefined
  isBusy: boolean
  cards: CardState
  ask(question: string, task: Task, replaces?: string | undefined): void
  /** After the stream of the live one broke, or was refused. */
  again(): void
  stop(): Promise<void>
  /** Keeps with the conversation what became of a card. */
  keepCard(key: string, said: string): Promise<void>
}

export function useAsk(session: string, isNew: boolean): Asking {
  const queries = useQueryClient()
  const go = useNavigate()
  const live = useLive(session)
  const stored = useQuery({
    queryKey: akeys.session(session),
    queryFn: () => ask.session(session),
    enabled: !isNew,
    // What another window asks shows here, too; and what is over is asked for until it is stored.
    refetchInterval: ({ state }) => (state.data?.running && (!live || live.isOver) ? 2_000 : false),
  })
  const { data, refetch } = stored
  const isOver = live?.isOver ?? false

  useEffect(() => {
    const running = data?.turns.find(({ id }) => id === data.running)
    if (running && !live) askLive.resume(session, running.id, running.question)
  }, [data, live, session])

  const ended = live?.view.end
  useEffect(() => {
    if (!isOver || !ended) return
    void queries.invalidateQueries({ queryKey: akeys.sessions, exact: true })
    // What was asked for before the end may be answered without it, and asking again would join it.
    void queries.cancelQueries({ queryKey: akeys.session(session), exact: true }).then(() => refetch())
  }, [isOver, ended, queries, refetch, session])
  useEffect(() => {
    const turn = data?.turns.find(({ id }) => id === live?.view.turn)
    // The stored conversation takes its place once it has the end, and the page is at its address: until then the live one
    // says that it has begun, and what is typed belongs to it.
    if (!isNew && isOver && ended && turn && turn.state !== 'running') askLive.forget(session)
  }, [data, isNew, isOver, ended, live?.view.turn, session])

  const begin = (question: string, task: Task, replaces: string | undefined) =>
    askLive.start(session, question, {
      task,
      replaces,
      onFrame: (frame) => {
        if (frame.type !== 'start') return
        void queries.invalidateQueries({ queryKey: akeys.sessions, exact: true })
        // Who has gone to another page meanwhile stays there.
        if (isNew && window.location.pathname === '/ask') void go(`/ask/${session}`, { replace: true })
      },
    })

  return {
    session,
    stored: { isPending: stored.isPending, error: isNew ? null : stored.error, refetch },
    turns: withoutLive(data?.turns ?? [], live),
    leftOut: data?.left_out ?? 0,
    live,
    isBusy: live !== undefined && !isOver,
    cards: readCards(data?.state),
    ask: begin,
    again: () => {
      if (!live) return
      // The daemon may be at it still, or have the answer by now.
      if (live.view.turn) {
        askLive.forget(session)
        void refetch()
      } else begin(live.question, live.task, live.replaces)
    },
    stop: () => askLive.stop(session),
    keepCard: async (key, said) => {
      const { applied } = readCards(queries.getQueryData<AskSessionDetail>(akeys.session(session))?.state)
      const state = JSON.stringify({ applied: { ...applied, [key]: said } })
      await ask.saveSession(session, { state })
      await refetch()
    },
  }
}

function withoutLive(turns: readonly AskTurn[], live: Live | undefined): AskTurn[] {
  const from = live?.replaces ? turns.findIndex(({ id }) => id === live.replaces) : -1
  const kept = from === -1 ? turns : turns.slice(0, from)
  return kept.filter(({ id }) => id !== live?.view.turn)
}
