/**
 * How skills are stored: as other parts are, with a machine that counts the projects that use one
 * (SPEC.md, Skill lifecycle).
 */
import type { Doc, Stored, Stroke } from '../changes/declared.ts'
import { fail } from '../errors.ts'
import { PartKind, type PartKindParts } from '../parts/part-kind.ts'
import type { PartRow } from '../parts/rows.ts'

export class SkillKind extends PartKind {
  constructor(parts: Pick<PartKindParts, 'db' | 'secrets'>) {
    super({
      ...parts,
      kind: 'skill',
      table: 'skills',
      secretNames: { secrets: [], addresses: [] },
      pausable: false,
    })
  }

  override update(stored: Stored, doc: Doc, stroke: Stroke): string {
    this.move(this.queries.byName(stored.key)!, 'edit', stroke)
    return super.update(stored, doc, stroke)
  }

  /** One more project uses it, or one less. @throws SvcError not_found */
  moveUsers(name: string, event: 'use' | 'remove', stroke: Stroke): void {
    const row = this.queries.byName(name) ?? fail('not_found', `no skill is named ${name}`)
    this.move(row, event, stroke)
  }

  /** Every project leaves it: the last one takes it away. */
  protected override retire(row: PartRow, stroke: Stroke): void {
    let state = row.state
    while (state !== 'deleted') state = this.move(row, 'remove', stroke)
  }
}
