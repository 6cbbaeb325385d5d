/** A trigger as it was in the configuration of then. */

import { useQuery } from '@tanstack/react-query'
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { ChangeSet, Trigger } from '../../../schemas/types.ts'
import { ApiError } from '../../client.ts'
import { declared } from '../../declared-client.ts'
import { asOf } from '../then.ts'

/** @param version change-set of then. @returns null where it was not there */
export function useTriggerThen(name: string, version: number) {
  return useQuery({
    queryKey: ['replay', 'trigger', name, version],
    queryFn: async (): Promise<Trigger | null> => {
      const [now, sets] = await Promise.all([nowOf(name), changesSince(name, version)])
      const doc = asOf(now as Record<string, unknown> | null, sets, { kind: 'trigger', name }, version)
      return doc && ({ ...doc, name } as FieldsOf<Trigger>)
    },
  })
}

async function nowOf(name: string): Promise<Trigger | null> {
  try {
    return await declared.trigger(name)
  } catch (error) {
    // It was deleted since.
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/** Its change-sets after a version, newest first. */
async function changesSince(name: string, version: number): Promise<ChangeSet[]> {
  const found: ChangeSet[] = []
  let before: number | undefined
  for (;;) {
    const page = await declared.changes({ kind: 'trigger', name, ...(before ? { before } : {}) })
    const later = page.change_sets.filter(({ id }) => id > version)
    // A list shows the first objects of a large change-set alone.
    for (const set of later) found.push(isShort(set, name) ? await declared.changeSet(set.id) : set)
    if (page.next_before === null || later.length < page.change_sets.length) return found
    before = page.next_before
  }
}

const isShort = ({ changes, objects }: ChangeSet, name: string): boolean =>
  objects > changes.length && !changes.some(({ kind, key }) => kind === 'trigger' && key === name)
