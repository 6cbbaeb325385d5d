/**
 * A draft as it is kept over a reload, in the browser's session storage: without what is secret,
 * which then has to be typed again.
 */
import type { Operation } from '../../../schemas/types.ts'
import { type Draft, type SecretField, type Step, stepsOf } from './draft.ts'
import { nodeId } from './ids.ts'
import { valueAt, without } from './patch.ts'

const VERSION = 1

/** A draft as text, secrets left out. */
export function keptText(draft: Draft): string {
  const steps = draft.steps.map((step) => ({
    ...step,
    operations: step.operations.map((operation, at) => blanked(operation, at, step.secrets ?? [])),
  }))
  return JSON.stringify({ version: VERSION, ...draft, steps })
}

function blanked(operation: Operation, at: number, secrets: readonly SecretField[]): Operation {
  const mine = secrets.filter((secret) => secret.operation === at)
  if (!operation.spec || mine.length === 0) return operation
  const spec = mine.reduce<Readonly<Record<string, unknown>>>(
    (doc, { path }) => without(doc, path),
    operation.spec,
  )
  return { ...operation, spec: { ...spec } }
}

/** @returns the draft of a text; null when it is none of this version. */
export function draftOfText(text: string | null): Draft | null {
  if (text === null) return null
  try {
    const { version, ...draft } = JSON.parse(text) as Draft & { version: number }
    const { base, steps } = draft
    if (version !== VERSION || typeof base !== 'number' || !Array.isArray(steps)) return null
    return draft
  } catch {
    // Whatever stands there, it is no draft of ours.
    return null
  }
}

/** A secret that has to be typed again. */
export interface MissingSecret {
  /** Node. */
  node: string
  path: string
}

/** Secrets that were left out, unless a later step has typed them again. */
export function missingSecrets(draft: Draft): MissingSecret[] {
  const missing = new Map<string, MissingSecret>()
  for (const step of stepsOf(draft)) {
    for (const operation of step.operations)
      if (operation.op === 'delete')
        for (const key of [...missing.keys()])
          if (missing.get(key)?.node === nodeId(operation)) missing.delete(key)
    for (const { operation, path } of step.secrets ?? []) noteSecret(missing, step, operation, path)
  }
  return [...missing.values()]
}

function noteSecret(missing: Map<string, MissingSecret>, step: Step, at: number, path: string): void {
  const operation = step.operations[at]
  if (!operation) return
  const node = nodeId(operation)
  const key = `${node}${path}`
  if (valueAt(operation.spec, path) === undefined) missing.set(key, { node, path })
  else missing.delete(key)
}
