/**
 * Answers that are coming in, by conversation. They outlive the page: who looks elsewhere meanwhile finds
 * the answer when they come back.
 */
import { useSyncExternalStore } from 'react'
import type { AskFrame } from '../../schemas/types.ts'
import { ask, askStream, type Following, resumeStream } from '../ask-client.ts'
import { type AskView, EMPTY_VIEW, modeOf, type Task, withFrame } from './ask.ts'

export interface Live {
  question: string
  task: Task
  view: AskView
  /** Why there is no stream, or no more of it. */
  error: Error | null
  isOver: boolean
  /** Turn that it takes the place of. */
  replaces: string | undefined
}

interface Entry extends Live {
  controller: AbortController
}

const entries = new Map<string, Entry>()
const listeners = new Set<() => void>()
let isTelling = false

/** Once for what comes in together: text comes in pieces of a word. */
function tell(): void {
  if (isTelling) return
  isTelling = true
  requestAnimationFrame(() => {
    isTelling = false
    for (const listener of listeners) listener()
  })
}

function change(session: string, entry: Entry, next: Partial<Live>): void {
  // Another question may have taken its place.
  if (entries.get(session)?.controller !== entry.controller) return
  entries.set(session, { ...entries.get(session)!, ...next })
  tell()
}

function follow(
  session: string,
  begin: Pick<Live, 'question' | 'task' | 'replaces'>,
  stream: (following: Following) => Promise<void>,
  onFrame: (frame: AskFrame) => void,
): void {
  const controller = new AbortController()
  const entry: Entry = { ...begin, view: EMPTY_VIEW, error: null, isOver: false, controller }
  entries.set(session, entry)
  tell()
  const following: Following = {
    signal: controller.signal,
    onFrame: (frame) => {
      change(session, entry, { view: withFrame(entries.get(session)?.view ?? EMPTY_VIEW, frame) })
      onFrame(frame)
    },
  }
  stream(following).then(
    () => change(session, entry, { isOver: true }),
    (error: Error) =>
      change(session, entry, { isOver: true, error: controller.signal.aborted ? null : error }),
  )
}

export interface Asking {
  task: Task
  replaces?: string | undefined
  onFrame?(frame: AskFrame): void
}

export const askLive = {
  start(session: string, question: string, { task, replaces, onFrame = () => {} }: Asking): void {
    const body = {
      messages: [{ role: 'user' as const, content: question }],
      session,
      ...modeOf(task),
      ...(replaces ? { replaces } : {}),
    }
    follow(session, { question, task, replaces }, (following) => askStream(body, following), onFrame)
  },
  /** Takes up a turn that was asked elsewhere, or before this page was loaded. */
  resume(session: string, turn: string, question: string): void {
    if (entries.has(session)) return
    follow(
      session,
      { question, task: 'ask', replaces: undefined },
      (following) => resumeStream(turn, following),
      () => {},
    )
  },
  /** It was refused, or did not arrive, before there was a conversation to find it in. */
  isRefused: (session: string): boolean => {
    const entry = entries.get(session)
    return entry?.error != null && !entry.view.turn
  },
  /** What there is of the answer is kept. @throws ApiError */
  async stop(session: string): Promise<void> {
    const entry = entries.get(session)
    if (entry?.view.turn) await ask.cancel(entry.view.turn)
    else entry?.controller.abort()
  },
  /** The stored conversation has it now. */
  forget(session: string): void {
    if (!entries.get(session)?.isOver) return
    entries.delete(session)
    tell()
  },
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const useLive = (session: string): Live | undefined =>
  useSyncExternalStore(subscribe, () => entries.get(session))
