/** Parameters as they may be, so that a template can be planned before anyone uses it. */
import type { TemplateFile, TemplateParam } from '../../schemas/types.ts'
import { type Params, paramsOf } from './params.ts'
import { isEmpty } from './render.ts'

/** Defaults, and the first example of each required parameter without one. */
export function exampleParams(file: TemplateFile): Params {
  const { properties, required = [] } = paramsOf(file)
  return collect(properties, (rules, name) =>
    isEmpty(rules.default) && required.includes(name) ? rules.examples?.[0] : rules.default,
  )
}

/**
 * Parameters that together take every branch: the smallest set, every parameter filled, and each
 * value of each choice.
 */
export function exampleVariants(file: TemplateFile): Params[] {
  const { properties } = paramsOf(file)
  const least = exampleParams(file)
  const full = collect(properties, (rules) => rules.examples?.[0] ?? rules.default)
  const choices = Object.entries(properties).flatMap(([name, rules]) =>
    (rules.type === 'boolean' ? [true, false] : (rules.enum ?? [])).map((value) => ({
      ...full,
      [name]: value,
    })),
  )
  const alone = Object.entries(properties)
    .filter(([name]) => isEmpty(least[name]) && !isEmpty(full[name]))
    .map(([name]) => ({ ...least, [name]: full[name] }))
  return [least, full, ...alone, ...choices]
}

function collect(
  properties: Readonly<Record<string, TemplateParam>>,
  pick: (rules: TemplateParam, name: string) => unknown,
): Params {
  const picked = Object.entries(properties).map(([name, rules]) => [name, pick(rules, name)] as const)
  return Object.fromEntries(picked.filter(([, value]) => !isEmpty(value)))
}
