/** Sources that a plan or a draft will make: triggers are written for them before they are there. */
import { createContext } from 'react'
import type { Label } from '../../schemas/types.ts'
import { fieldNames } from './sample.ts'

type Fields = Readonly<Record<string, unknown>>

export interface PlannedSource {
  name: string
  connector: string
  config: Fields | undefined
  /** Names of its labels. */
  labels: readonly string[]
  /** Payload fields of its example event. */
  fields: readonly string[]
}

/** @param spec connector and config @param sample its example event, where there is one */
export const plannedSource = (name: string, spec: Fields | undefined, sample?: unknown): PlannedSource => {
  const config = spec?.config as Fields | undefined
  return {
    ...{ name, config, connector: spec?.connector as string },
    labels: ((config?.labels ?? []) as Label[]).map((label) => label.name),
    fields: sample ? fieldNames([sample]) : [],
  }
}

/** Those of the form around; none on pages of what is stored. */
export const PlannedSources = createContext<readonly PlannedSource[]>([])
