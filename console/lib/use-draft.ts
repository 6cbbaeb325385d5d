/** A form's draft: as state, and kept 250 ms after a change until it is saved or discarded. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import { dropDraft, type KeptDraft, keyOfDraft, readDraft, writeDraft } from './drafts.ts'

const AFTER_MS = 250

/** Forms of other tabs are asked by it, by a place, whether something is typed there; those where it is say so. */
export const TABS = 'svc:form'
export const TAB = Math.random()

/**
 * Writes that are still to come, by place. A form that takes another's place at once is filled in before React takes the
 * other away: it writes what is outstanding, and then finds it.
 */
const outstanding = new Map<string, () => void>()

function findDraft<T>(place: string): KeptDraft<T> | null {
  outstanding.get(place)?.()
  return readDraft<T>(window.localStorage, place)
}

/** Forms that are open in this tab, by place: whether something is typed in them. */
const openHere = new Map<string, () => boolean>()

/**
 * Whether something is typed in a form of an address, written or not: another tab that saves or discards what is typed there
 * drops what is kept, and not what is typed here.
 */
export function isTyped(pathname: string, form: string): boolean {
  const place = `${pathname}#${form}`
  return (
    outstanding.has(place) ||
    openHere.get(place)?.() === true ||
    readDraft(window.localStorage, place) !== null
  )
}

export interface DraftOf<T> {
  value: T
  set: (next: T | ((now: T) => T)) => void
  /** When the draft that was found here was typed, ms since the epoch; null: none was, or it was put away. */
  restored: number | null
  /** Where it is kept. */
  place: string
  /** Version of the object that is changed here: what others saved since is merged, or told as conflicts. */
  version: number | undefined
  /** Gives it up: the form is as it was filled in first. */
  discard: () => void
  /** Fills the form in anew, with what is stored now; nothing typed is kept. */
  fill: (next: T) => void
  /** What the form itself fills in as it begins, such as defaults that are loaded: nobody typed it, and what is typed stays. */
  begin: (change: (now: T) => T) => void
  /** It is saved: nothing of it is kept. */
  done: () => void
}

/**
 * @param form told apart from others at the same address
 * @param start what the form is filled in with
 * @param version of the object; undefined: it is made here
 * @param plain takes secrets out of what is kept
 * @param isGiven it was filled in with a proposal, which must not be covered by what was typed here before
 * @param at address that it belongs to from now on, where that is not the one it was opened at: what is typed goes along
 */
export function useDraft<T>({
  form,
  start,
  version,
  plain = (value) => value,
  isGiven = false,
  at,
}: {
  form: string
  start: T
  version?: number | undefined
  plain?: (value: T) => T
  isGiven?: boolean
  at?: string | undefined
}): DraftOf<T> {
  const { pathname } = useLocation()
  const [begun] = useState(() => `${pathname}#${form}${isGiven ? `#${JSON.stringify(start)}` : ''}`)
  const place = at === undefined ? begun : `${at}#${form}`
  const [kept, setKept] = useState(() => findDraft<T>(place))
  const [value, setValue] = useState<T>(() => (kept ? merged(start, kept.value) : start))
  /**
   * The newest value, rendered or not. A connector's form reports its defaults while it renders; React applies that update
   * later than what a person types, and a save in between would lack the defaults.
   */
  const held = useRef(value)
  const put = useCallback((next: T) => {
    held.current = next
    setValue(next)
  }, [])
  const base = kept ? (kept.base ?? undefined) : version
  const latest = useRef({ value, base, plain })
  latest.current = { value, base, plain }
  /** As text, what needs no keeping: as it was filled in, or as it was saved last. */
  const first = useRef('')
  if (first.current === '') first.current = JSON.stringify(start)
  useTold(
    place,
    useCallback(() => JSON.stringify(held.current) !== first.current, []),
  )
  /** What is not written yet. */
  const waiting = useRef<ReturnType<typeof setTimeout> | null>(null)
  /** Another tab with this form wrote or dropped what is kept. */
  const isTaken = useRef(false)
  const write = useCallback(() => {
    if (waiting.current === null && !isTaken.current) return
    if (waiting.current !== null) clearTimeout(waiting.current)
    waiting.current = null
    const isOthers = isTaken.current
    isTaken.current = false
    outstanding.delete(place)
    const now = held.current
    const { base: of, plain: without } = latest.current
    if (JSON.stringify(now) === first.current) {
      if (!isOthers) dropDraft(window.localStorage, place)
    } else writeDraft(window.localStorage, place, { base: of ?? null, at: Date.now(), value: without(now) })
  }, [place])

  useEffect(() => {
    // Leaving the page or the form does not wait.
    window.addEventListener('pagehide', write)
    // Told by other tabs alone: what is typed here is then kept as one leaves, in place of theirs.
    const onTaken = ({ key }: StorageEvent) => {
      if (key === keyOfDraft(place) && JSON.stringify(held.current) !== first.current) isTaken.current = true
    }
    window.addEventListener('storage', onTaken)
    return () => {
      window.removeEventListener('pagehide', write)
      window.removeEventListener('storage', onTaken)
      write()
    }
  }, [write, place])

  // What was typed at the place before was written as that was left; another's there stays.
  const before = useRef(place)
  useEffect(() => {
    if (before.current === place) return
    const typed = readDraft<T>(window.localStorage, before.current)
    dropDraft(window.localStorage, before.current)
    if (typed) writeDraft(window.localStorage, place, typed)
    before.current = place
  }, [place])

  const forget = useCallback(() => {
    if (waiting.current !== null) clearTimeout(waiting.current)
    waiting.current = null
    isTaken.current = false
    outstanding.delete(place)
    dropDraft(window.localStorage, place)
    setKept(null)
  }, [place])

  const fill = useCallback(
    (next: T) => {
      forget()
      first.current = JSON.stringify(next)
      put(next)
    },
    [forget, put],
  )

  return {
    value,
    set: useCallback(
      (next) => {
        put(typeof next === 'function' ? (next as (now: T) => T)(held.current) : next)
        if (waiting.current !== null) clearTimeout(waiting.current)
        waiting.current = setTimeout(write, AFTER_MS)
        outstanding.set(place, write)
      },
      [place, put, write],
    ),
    restored: kept?.at ?? null,
    place,
    version: base,
    discard: useCallback(() => fill(start), [fill, start]),
    fill,
    begin: useCallback(
      (change) => {
        first.current = JSON.stringify(change(JSON.parse(first.current) as T))
        put(change(held.current))
      },
      [put],
    ),
    done: useCallback(() => {
      first.current = JSON.stringify(latest.current.value)
      forget()
    }, [forget]),
  }
}

/** Tells this tab and others whether something is typed here. */
function useTold(place: string, isTypedHere: () => boolean): void {
  useEffect(() => {
    openHere.set(place, isTypedHere)
    const tabs = new BroadcastChannel(TABS)
    tabs.onmessage = ({ data: [of, tab] }) => {
      if (of === place && tab !== TAB && isTypedHere()) tabs.postMessage(place)
    }
    return () => {
      tabs.close()
      openHere.delete(place)
    }
  }, [place, isTypedHere])
}

/** A field that the draft leaves out, such as a secret, is as the form is filled in. */
function merged<T>(start: T, kept: T): T {
  const isObject = (one: unknown) => typeof one === 'object' && one !== null && !Array.isArray(one)
  return isObject(start) && isObject(kept) ? { ...start, ...kept } : kept
}

/** Discards the draft, and then does what fills the form in anew. */
export const takeTheirs =
  ({ discard }: Pick<DraftOf<unknown>, 'discard'>, reload: () => void) =>
  (): void => {
    discard()
    reload()
  }
