/**
 * The editor of a project: its draft, the graph as the draft would leave it, and one function for
 * everything that is done to it. The canvas and the list share it.
 */

import { useEffect, useMemo, useRef, useState } from 'react'
import type { GraphMoves, GraphPosition, ProjectGraph } from '../../../../schemas/types.ts'
import { notifications } from '../../../lib/notices.ts'
import {
  canRedo,
  canUndo,
  correcting,
  type Draft,
  moveBack,
  movedTo,
  movesAfter,
  newDraft,
  operationsOf,
  placesOf,
  redone,
  refusedSteps,
  type Step,
  stepsOf,
  undone,
  withoutStep,
  withStep,
} from '../../draft/draft.ts'
import { changesBetween, editedBy, foreseen, withGone } from '../../draft/foresee.ts'
import { type MissingSecret, missingSecrets } from '../../draft/keep.ts'
import { madeBy } from '../../draft/parts.ts'
import { sameValue } from '../../draft/values.ts'
import { currentDraft, hasDrafts, putDraft, useDraft } from './draft-store.ts'
import { usePositions } from './use-positions.ts'
import { type Preview, usePreview } from './use-preview.ts'

export interface Editor {
  /** As it is now. */
  live: ProjectGraph
  /** As the draft would leave it. */
  graph: ProjectGraph
  /** The same, with what would be gone, for drawing. */
  drawn: ProjectGraph
  changes: ReadonlyMap<string, 'created' | 'changed' | 'deleted'>
  draft: Draft | null
  /** Ids of the parts the draft makes. */
  made: ReadonlySet<string>
  lost: readonly MissingSecret[]
  preview: Preview
  /** What was last done, for those who hear the page. */
  said: string
  say(text: string): void
  /** Takes a step; a refusal, or an Error it throws, is told. @returns whether it was taken. */
  act(make: () => Step | null): boolean
  /** Puts nodes that are stored elsewhere. Until the next step undo takes that back, before any step. */
  move(put: readonly GraphPosition[]): void
  /** @returns whether nodes were moved since the last step */
  undoMove(): boolean
  canUndo: boolean
  canRedo: boolean
  /** @returns whether there was anything to take back */
  undo(): boolean
  redo(): void
  moveTo(cursor: number): void
  drop(at: number): void
  discard(): void
  replace(draft: Draft | null): void
}

interface Moves {
  done: readonly Moved[]
  undone: readonly Moved[]
}
interface Moved {
  put: GraphPosition[]
  back: GraphMoves
}
const NO_MOVES: Moves = { done: [], undone: [] }

/** @param withYaml whether the catalog file is looked at, too */
export function useEditor(live: ProjectGraph, withYaml: boolean): Editor {
  const project = live.project.id
  const draft = useDraft(project)
  const preview = usePreview(live, draft, withYaml)
  const [said, setSaid] = useState('')
  const graph = useGraph(live, draft, preview)
  useAskBeforeLeaving()
  const view = useMemo(() => {
    const operations = draft ? operationsOf(draft) : []
    return {
      drawn: operations.length ? withGone(graph, live) : live,
      changes: changesBetween(live, graph, editedBy(operations)),
      made: madeBy(operations),
      lost: draft ? missingSecrets(draft) : [],
    }
  }, [draft, graph, live])
  const positions = usePositions(live)
  const [moves, setMoves] = useState(NO_MOVES)
  const { done, undone: takenBack } = moves
  /** @param by -1: back */
  const moveAgain = (by: 1 | -1): boolean => {
    const one = (by === 1 ? takenBack : done).at(-1)
    if (!one) return false
    positions.move(by === 1 ? { put: one.put } : one.back)
    setMoves(
      by === 1
        ? { done: [...done, one], undone: takenBack.slice(0, -1) }
        : { done: done.slice(0, -1), undone: [...takenBack, one] },
    )
    setSaid(by === 1 ? 'Moved again.' : 'Moved back.')
    return true
  }
  const settle = (next: Draft | null): void => {
    setMoves(NO_MOVES)
    const before = currentDraft(project)
    const [from, to] = [before ? stepsOf(before) : [], next ? stepsOf(next) : []]
    positions.move(movesAfter(positions.now(), from, to))
    putDraft(project, next)
  }
  const moved = (to: (draft: Draft) => Draft, word: (step: Step | undefined) => string) => {
    const now = currentDraft(project)
    if (!now) return
    const next = to(now)
    settle(next)
    setSaid(word(now.steps[Math.min(now.cursor, next.cursor)]))
  }
  return {
    live,
    graph,
    ...view,
    draft,
    preview,
    said,
    say: setSaid,
    act: (make) => {
      try {
        const step = make()
        if (!step) return false
        const now = currentDraft(project)
        // Of another draft than was asked about nothing is known.
        const refused = now && now === draft ? refusedSteps(now, preview.answer?.problems ?? []) : []
        settle(withStep(now ?? newDraft(live.version), correcting(step, refused)))
        setSaid(`${step.said} Undo with Ctrl+Z.`)
        return true
      } catch (error) {
        notifications.show({
          color: 'red',
          title: 'Couldn’t make the change',
          message: (error as Error).message,
        })
        setSaid((error as Error).message)
        return false
      }
    },
    move: (put) => {
      const one = { put: [...put], back: moveBack(positions.now(), put) }
      setMoves({ done: [...done, one], undone: [] })
      positions.move({ put: one.put })
    },
    undoMove: () => moveAgain(-1),
    canUndo: done.length > 0 || (draft !== null && canUndo(draft)),
    canRedo: takenBack.length > 0 || (draft !== null && canRedo(draft)),
    undo: () => {
      if (moveAgain(-1)) return true
      const isLeft = draft !== null && canUndo(draft)
      if (isLeft) moved(undone, (step) => `Undone: ${step?.label}.`)
      return isLeft
    },
    redo: () => {
      if (moveAgain(1)) return
      if (draft && canRedo(draft)) moved(redone, (step) => `Done again: ${step?.label}.`)
    },
    moveTo: (cursor) =>
      moved(
        (now) => movedTo(now, cursor),
        () => `The draft is at step ${cursor}.`,
      ),
    drop: (at) =>
      moved(
        (now) => withoutStep(now, at),
        () => 'The step is dropped from the draft.',
      ),
    discard: () => {
      settle(null)
      setSaid('The draft is discarded.')
    },
    replace: (next) => putDraft(project, next),
  }
}

/** The daemon's graph where it has answered; until then, and where it cannot, what the console foresees. */
function useGraph(live: ProjectGraph, draft: Draft | null, { answer }: Preview): ProjectGraph {
  const last = useRef<{ draft: Draft; version: number; graph: ProjectGraph } | null>(null)
  return useMemo(() => {
    if (!draft || draft.cursor === 0) return placed(live, draft)
    if (answer?.graph) {
      last.current = { draft, version: live.version, graph: answer.graph }
      return placed(answer.graph, draft)
    }
    const known = last.current
    const steps = stepsOf(draft)
    const isPrefix =
      known !== null &&
      known.version === live.version &&
      known.draft.base === draft.base &&
      sameValue(stepsOf(known.draft), steps.slice(0, known.draft.cursor))
    const [from, rest] = isPrefix ? [known.graph, steps.slice(known.draft.cursor)] : [live, steps]
    const operations = rest.flatMap((step) => step.operations)
    return placed(foreseen(from, operations, Object.assign({}, ...rest.map(({ joins }) => joins))), draft)
  }, [live, draft, answer])
}

function placed(graph: ProjectGraph, draft: Draft | null): ProjectGraph {
  const places: GraphPosition[] = draft ? placesOf(draft) : []
  if (places.length === 0) return graph
  const known = new Set(graph.positions.map(({ node }) => node))
  return { ...graph, positions: [...graph.positions, ...places.filter(({ node }) => !known.has(node))] }
}

/** Closing or reloading the tab would lose the secrets of a draft, and closing it all of them. */
function useAskBeforeLeaving(): void {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => {
      if (hasDrafts()) event.preventDefault()
    }
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [])
}
