/** Rules of the parameters in a template file, and of an action's arguments. */
import { check } from '../../schemas/index.ts'
import type { TemplateParam, TemplateParams } from '../../schemas/types.ts'
import { valueFaults } from './param-value.ts'
import { isEmpty } from './render.ts'

/** Roots that expressions have beside the parameters. */
const RESERVED = ['item', 'index', 'args']

/**
 * @param at path in the file: params, or actions[0].params.
 * @returns one sentence per fault, each beginning with its path.
 */
export function paramsFaults(schema: unknown, at: string, kind: 'params' | 'args'): string[] {
  const fault = check('template-params.json', schema)
  if (fault !== null) return prefixed(fault, at)
  const { properties, required = [] } = schema as TemplateParams
  const faults = requiredFaults(required, properties, at)
  for (const [name, rules] of Object.entries(properties)) {
    const here = `${at}.properties.${name}`
    if (RESERVED.includes(name))
      faults.push(`${here} must have another name: ${name} means something in expressions`)
    const needsExample = kind === 'params' && required.includes(name)
    if (needsExample && isEmpty(rules.default) && isEmpty(rules.examples?.[0]))
      faults.push(`${here} is required, so it needs a default or examples to check the file with`)
    if (rules['x-secret'] && (kind === 'args' || rules.type !== 'string' || rules.default !== undefined))
      faults.push(`${here}.x-secret is for a text parameter without a default`)
    faults.push(...ruleFaults(rules, here))
  }
  return faults
}

/** Puts a path before each sentence of the validator. */
export function prefixed(sentences: string, at: string): string[] {
  return sentences
    .split('; ')
    .map((sentence) => (/^body\b/.test(sentence) ? sentence.replace('body', at) : `${at}.${sentence}`))
}

function requiredFaults(required: readonly string[], properties: object, at: string): string[] {
  return required
    .filter((name) => !Object.hasOwn(properties, name))
    .map((name) => `${at}.required names ${name}, which is not one of the properties`)
}

/** One parameter, or one field or entry of it. */
function ruleFaults(rules: TemplateParam, at: string): string[] {
  const faults: string[] = []
  if (rules.type === 'array' && !rules.items) faults.push(`${at}.items is required for a list`)
  if (rules.type === 'object' && !rules.properties) faults.push(`${at}.properties is required for an object`)
  if (!isPattern(rules.pattern))
    return [`${at}.pattern must be a regular expression of JavaScript with the u flag`]
  if (!isEmpty(rules.default)) faults.push(...valueFaults(rules, rules.default, `${at}.default`))
  rules.examples?.forEach((example, i) => {
    faults.push(...valueFaults(rules, example, `${at}.examples[${i}]`))
  })
  if (rules.items) faults.push(...innerFaults(rules.items, `${at}.items`))
  if (rules.type === 'object') faults.push(...fieldFaults(rules, at))
  return faults
}

function innerFaults(rules: TemplateParam, at: string): string[] {
  const outer = (['x-secret', 'x-env'] as const).filter((word) => rules[word] !== undefined)
  return [
    ...outer.map((word) => `${at}.${word} is for whole parameters, not for what is inside one`),
    ...ruleFaults(rules, at),
    ...(rules.type === 'array' ? [`${at}.type must not be array: a list of lists has no form`] : []),
  ]
}

function fieldFaults({ properties = {}, required = [] }: TemplateParam, at: string): string[] {
  return [
    ...requiredFaults(required, properties, at),
    ...Object.entries(properties).flatMap(([name, field]) => innerFaults(field, `${at}.properties.${name}`)),
  ]
}

function isPattern(pattern: string | undefined): boolean {
  if (pattern === undefined) return true
  try {
    new RegExp(pattern, 'u')
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
