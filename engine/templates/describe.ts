/** A template as people see it before they use it (SPEC.md, GET /api/projects/templates). */
import type { Template, TemplateFile } from '../../schemas/types.ts'
import { exampleParams } from './examples.ts'
import type { Params } from './params.ts'
import { planTemplate } from './plan.ts'

/**
 * @param installed connectors of the instance; with them the description says which it lacks.
 */
export function describeTemplate(file: TemplateFile, installed?: readonly string[]): Template {
  const { key, title, description, sentence = '', tags = [], hidden = false, demo = false } = file
  return {
    key,
    title,
    description,
    sentence,
    tags,
    hidden,
    demo,
    params: file.params,
    facts: { you: file.facts?.you ?? [], svc: file.facts?.svc ?? [] },
    guide: file.guide ?? null,
    setup: file.setup ?? [],
    actions: file.actions ?? [],
    objects: file.objects.map((object) => ({ kind: object.kind, key: object.key, name: object.name })),
    ...(installed ? { missing_connectors: missingConnectors(file, installed) } : {}),
    recipe: key,
  }
}

/**
 * Connectors the template's sources need and the instance does not have, each once.
 * @param params those of a project; without them what the template plans by default.
 */
export function missingConnectors(
  file: TemplateFile,
  installed: readonly string[],
  params: Params = exampleParams(file),
): string[] {
  const needed = planTemplate(file, params)
    .objects.filter((object) => object.kind === 'source')
    .map((object) => String(object.spec.connector))
  return [...new Set(needed)].filter((connector) => !installed.includes(connector)).sort()
}
