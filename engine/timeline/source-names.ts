/**
 * What reads need to know of sources: names, kinds, which labels are numbers. Read from the rows,
 * again whenever one changed, so that a reader thread needs no messages from the writer.
 */
import type { Label } from '../../schemas/types.ts'
import { connectorOf } from '../connectors/index.ts'
import type { Database, Statement } from '../store/handle.ts'

export interface SourceFacts {
  id: number
  name: string
  sourceType: string
  labels: Label[]
  deleted: boolean
}

interface SourceRow {
  id: number
  name: string
  connector: string
  state: string
  labels: string | null
}

export class SourceNames {
  private facts = new Map<number, SourceFacts>()
  private stamp = ''
  private readonly selectStamp: Statement<[], string>
  private readonly select: Statement<[], SourceRow>
  private readonly selectMasked: Statement<[], number>

  constructor(db: Database) {
    this.selectStamp = db
      .prepare(
        "SELECT count(*) || '.' || coalesce(sum(version), 0) || '.' || coalesce(max(id), 0) FROM sources",
      )
      .pluck() as Statement<[], string>
    this.select = db.prepare(
      "SELECT id, name, connector, state, json_extract(config, '$.labels') AS labels FROM sources",
    )
    this.selectMasked = db.prepare('SELECT source_id FROM purges').pluck() as Statement<[], number>
  }

  refresh(): void {
    const stamp = this.selectStamp.get() ?? ''
    if (stamp === this.stamp) return
    this.facts = new Map(
      this.select.all().map((row) => [
        row.id,
        {
          id: row.id,
          name: row.name,
          sourceType: connectorOf(row.connector).sourceType,
          labels: row.labels ? (JSON.parse(row.labels) as Label[]) : [],
          deleted: row.state === 'deleted',
        },
      ]),
    )
    this.stamp = stamp
  }

  /** Facts of a source, deleted ones included: their events keep their name. */
  get(id: number): SourceFacts | undefined {
    return this.facts.get(id)
  }

  all(): Iterable<SourceFacts> {
    return this.facts.values()
  }

  /** Ids of every source that has or had the name. */
  idsOf(name: string): number[] {
    return [...this.facts.values()].filter((source) => source.name === name).map((source) => source.id)
  }

  /** Sources being purged: their events are no longer to be seen. */
  masked(): number[] {
    return this.selectMasked.all()
  }

  /** Names of labels some source declares as numbers: they are stored in the row, not the index. */
  numberLabels(): Set<string> {
    const names = new Set<string>()
    for (const source of this.facts.values())
      for (const label of source.labels) if (label.type === 'number') names.add(label.name)
    return names
  }
}
