/** Writes of triggers, each one change-set. */
import type { PartDeleted, PartMoved, PartWritten, TriggerSpec, TriggerWrite } from '../../schemas/types.ts'
import { normaliseTrigger } from '../parts/trigger-spec.ts'
import { projectsOf } from '../wiring/project-doc.ts'
import type { Declared } from './declared.ts'
import {
  checkName,
  deleted,
  joiningProject,
  movePart,
  stageEdit,
  stageNew,
  type WriteBy,
  written,
} from './write.ts'

/** @throws SvcError invalid; conflict when the name is taken */
export function createTrigger(declared: Declared, body: TriggerWrite, by: WriteBy): PartWritten {
  checkName('trigger', body.name)
  const doc = normaliseTrigger(specOf(body))
  const committed = declared.changes.commit(by, (edit) =>
    stageNew(edit, 'trigger', body.name, { ...doc }, joiningProject(edit, body.project)),
  )
  return written(declared, 'trigger', body.name, committed)
}

/** Replaces the definition; a null description keeps the stored one. @throws SvcError not_found; invalid; conflict */
export function updateTrigger(
  declared: Declared,
  name: string,
  body: TriggerWrite,
  by: WriteBy,
): PartWritten {
  const committed = declared.changes.commit(by, (edit) => {
    const now = edit.require('trigger', name)
    const keeps = body.description === undefined || body.description === null
    const doc = normaliseTrigger({
      ...specOf(body),
      ...(keeps && now.description !== undefined ? { description: now.description } : {}),
      ...(now.paused ? { paused: true } : {}),
    })
    stageEdit(edit, 'trigger', name, body, { ...doc }, by.base)
  })
  return written(declared, 'trigger', name, committed)
}

/** Its subscriptions and wiring go with it; agents it woke stay. @throws SvcError not_found */
export function deleteTrigger(declared: Declared, name: string, by: WriteBy): PartDeleted {
  const committed = declared.changes.commit(by, (edit) => {
    edit.require('trigger', name)
    const woken = new Set<string>()
    const otherwise = new Set<string>()
    for (const { wakes, handoffs } of projectsOf(edit).values()) {
      for (const [trigger, agents] of Object.entries(wakes ?? {}))
        for (const agent of Object.keys(agents)) (trigger === name ? woken : otherwise).add(agent)
      for (const verdicts of Object.values(handoffs ?? {}))
        for (const targets of Object.values(verdicts))
          for (const to of Object.keys(targets)) otherwise.add(to)
    }
    edit.remove('trigger', name)
    return [...woken].filter((agent) => !otherwise.has(agent)).sort()
  })
  return deleted(committed, { agents_without_trigger: committed.result })
}

/** @throws SvcError not_found; wrong_state */
export function moveTrigger(
  declared: Declared,
  name: string,
  event: 'pause' | 'resume',
  by: WriteBy,
): PartMoved {
  return movePart(declared, 'trigger', name, event, by)
}

function specOf({ name: _name, project: _project, description, ...spec }: TriggerWrite): TriggerSpec {
  return { ...spec, ...(description ? { description } : {}) } as TriggerSpec
}
