/** What the daemon finds wrong with a draft, by step and by field. */
import type { DraftPreview, DraftProblem } from '../../../../schemas/types.ts'
import { type FieldErrors, fieldErrors } from '../../../lib/field-errors.ts'
import { type Draft, operationsOf, stepOf } from '../../draft/draft.ts'
import { nodeId, type PartRef } from '../../draft/ids.ts'
import type { Note } from '../../types.ts'

export interface Problem extends DraftProblem {
  /** Step it comes from, from 0; null: the draft as a whole. */
  step: number | null
  /** Node it is about; null: none. */
  node: string | null
}

/** A draft, and what the daemon said of it. */
interface Asked {
  draft: Draft | null
  preview: { answer: DraftPreview | undefined; error: Error | null }
}

/** Why the draft cannot be applied as it is. */
export function problemsOf({ draft, preview }: Asked): Problem[] {
  if (!draft) return []
  if (preview.error)
    return [{ operation: null, field: null, message: preview.error.message, step: null, node: null }]
  const operations = operationsOf(draft)
  return (preview.answer?.problems ?? []).map((problem) => {
    const operation = problem.operation === null ? undefined : operations[problem.operation]
    return {
      ...problem,
      message: problem.message.split('; ').map(inWords).join('; '),
      step: problem.operation === null ? null : stepOf(draft, problem.operation),
      node: operation && operation.kind !== 'project' ? nodeId(operation) : null,
    }
  })
}

/** What is marked at the nodes that a draft is refused for. */
export function refusalsOf(editor: Asked): Map<string, Note> {
  const notes = new Map<string, Note>()
  for (const { node, message } of problemsOf(editor))
    if (node !== null && !notes.has(node)) notes.set(node, { text: message, tone: 'bad' })
  return notes
}

/** What is wrong with the fields of a part. */
export function faultsOf(editor: Asked, part: PartRef): FieldErrors {
  const faults: FieldErrors = {}
  const raw = editor.preview.answer?.problems ?? []
  problemsOf(editor).forEach(({ node, field, message }, i) => {
    if (node !== nodeId(part)) return
    for (const [path, fault] of Object.entries(fieldErrors(new Error(raw[i]?.message ?? message))))
      faults[path] = inWords(fault)
    if (field) faults[field] ??= message
  })
  return faults
}

/** A field of a list or of a group, at the start of a sentence. */
const PATH = /^((?:[a-z_]+(?:\[\d+\])?\.)*[a-z_]+(?:\[\d+\])?)(?=:? )/

/** A refusal as people read it: "verdict 1 must be …" for "verdicts[0].verdict must be …", "server of tool 3" for "tools[2].server". */
export function inWords(sentence: string): string {
  const path = PATH.exec(sentence)?.[0] ?? ''
  if (!/[.[]/.test(path)) return sentence
  const [last = '', list] = path.split('.').map(placeWords).reverse()
  const isSame = list?.replace(/ \d+$/, '') === last
  const words = !list?.match(/ \d+$/) ? last : isSame ? list : `${last} of ${list}`
  return words + sentence.slice(path.length)
}

/** "label 2" for "labels[1]", "base url" for "base_url". */
function placeWords(name: string): string {
  const [, word = name, place] = /^(.*)\[(\d+)\]$/.exec(name) ?? []
  const plain = word.replaceAll('_', ' ')
  return place === undefined ? plain : `${oneOf(plain)} ${Number(place) + 1}`
}

const oneOf = (many: string): string =>
  many
    .replace(/ies$/, 'y')
    .replace(/(ss|x)es$/, '$1')
    .replace(/([^s])s$/, '$1')
