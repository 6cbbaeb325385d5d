/**
 * The drafts of this tab, by project. They outlive the page they are edited on; over a reload they
 * are kept without their secrets.
 */
import { useCallback, useSyncExternalStore } from 'react'
import type { Draft } from '../../draft/draft.ts'
import { draftOfText, keptText } from '../../draft/keep.ts'

const KEY = 'svc:draft:'
const drafts = new Map<string, Draft | null>()
const listeners = new Set<() => void>()

function draftOf(project: string): Draft | null {
  if (!drafts.has(project)) drafts.set(project, draftOfText(window.sessionStorage.getItem(KEY + project)))
  return drafts.get(project) ?? null
}

/** The draft as it is now, outside of drawing. */
export const currentDraft = draftOf

export function putDraft(project: string, draft: Draft | null): void {
  const kept = draft?.steps.length ? draft : null
  drafts.set(project, kept)
  if (kept) window.sessionStorage.setItem(KEY + project, keptText(kept))
  else window.sessionStorage.removeItem(KEY + project)
  for (const listener of listeners) listener()
}

/** Whether a draft anywhere would be lost in part with the tab. */
export const hasDrafts = (): boolean =>
  [...drafts.values()].some((draft) => draft?.steps.some(({ operations }) => operations.length > 0))

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useDraft(project: string): Draft | null {
  return useSyncExternalStore(
    subscribe,
    useCallback(() => draftOf(project), [project]),
  )
}
