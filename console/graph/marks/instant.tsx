/**
 * "3m ago", told from the instant the graph shows. Each place listens for itself and renders when its
 * own words change, so that time does not render three hundred nodes.
 */
import { createContext, useContext, useSyncExternalStore } from 'react'
import { ago } from '../../lib/time.ts'
import type { Mode } from '../types.ts'

export class InstantStore {
  private readonly listeners = new Set<() => void>()
  /** @param now epoch ms */
  constructor(private now: number) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }
  read(): number {
    return this.now
  }
  set(now: number): void {
    if (now === this.now) return
    this.now = now
    for (const listener of this.listeners) listener()
  }
}

export const InstantContext = createContext(new InstantStore(0))

/** Whether a part without `last_at` never did anything: a replay knows only what it saw. */
export const KnowsNeverContext = createContext(true)

export function Ago({ at }: { at: string }) {
  const store = useContext(InstantContext)
  const text = useSyncExternalStore(store.subscribe, () => ago(at, store.read()))
  return <time dateTime={at}>{text}</time>
}

/** What nodes tell: how they are now, how they were, or what they are. */
export const ModeContext = createContext<Mode>('live')

/** What is done inside of nodes. */
export interface Hands {
  /** A tool in an agent was picked. */
  openTool(agent: string, server: string): void
}
export const HandsContext = createContext<Hands>({ openTool: () => undefined })
