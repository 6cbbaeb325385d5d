/** Sources that a plan or a draft will make: triggers are written for them before they are there. */
import { createContext } from 'react'
import type { Label } from '../../schemas/types.ts'
import { fieldNames } from './sample.ts'

export interface PlannedSource {
  name: string
  /** Names of its labels. */
  labels: readonly string[]
  /** Payload fields of its example event. */
  fields: readonly string[]
}

/** @param sample its example event, where there is one */
export const plannedSource = (
  name: string,
  config: Readonly<Record<string, unknown>> | undefined,
  sample?: unknown,
): PlannedSource => ({
  name,
  labels: ((config?.labels ?? []) as Label[]).map((label) => label.name),
  fields: sample ? fieldNames([sample]) : [],
})

/** Those of the form around; none on pages of what is stored. */
export const PlannedSources = createContext<readonly PlannedSource[]>([])
