/**
 * A replay as a key of its own project may see it: without addresses and what they were told, without
 * other projects, without who changed what and what tools were asked.
 */
import type { Replay, ReplayMoment } from '../../../schemas/types.ts'
import { narrowedGraph } from '../narrow.ts'

export function narrowedReplay(replay: Replay): Replay {
  const { versions, start, moments } = replay
  return {
    ...replay,
    versions: versions.map((version) => ({
      ...version,
      by: null,
      summary: '',
      graph: narrowedGraph(version.graph),
    })),
    start: {
      ...start,
      counts: Object.fromEntries(Object.entries(start.counts).filter(([id]) => !isOfDestination(id))),
    },
    moments: moments
      .filter(({ nodes }) => !nodes.some(isOfDestination))
      .map((moment, i) => ({ ...moment, n: i + 1, title: titleOf(moment) })),
  }
}

const isOfDestination = (id: string): boolean => /^(destination|tells):/.test(id)

function titleOf({ kind, phase, title }: ReplayMoment): string {
  if (kind === 'change') return 'what is declared was changed'
  if (kind === 'state') return title.replace(/ by .*$/, '')
  // What a tool was asked stands behind its name, in parentheses.
  return kind === 'step' && phase === 'tool' ? title.replace(/\(\{.*$/, '') : title
}
