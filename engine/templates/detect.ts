/** What a template can work out from where svc runs (SPEC.md, POST templates/{key}/detect). */
import type { DetectResult, TemplateFile } from '../../schemas/types.ts'
import { type Params, paramsOf, standard } from './params.ts'
import { isEmpty, renderPlain, type Scope } from './render.ts'

/** How it looks; the caller bounds the time of each look. */
export interface Look {
  env: Readonly<Record<string, string | undefined>>
  /** Sources there are; secrets of their config masked or left out. */
  sources: () => readonly { name: string; connector: string; config: Readonly<Record<string, unknown>> }[]
  /** Whether an address answers; false, not an error, when it does not. */
  http: (url: string) => Promise<boolean>
}

type Probe = NonNullable<TemplateFile['detect']>[number]

/**
 * Looks at the environment and the sources first, then asks addresses, which may be made of what was
 * found, all at the same time. A secret is never returned, only that it is there.
 * @returns parameters it could fill, and one sentence for each look, in the order of the file.
 */
export async function detectTemplate(file: TemplateFile, look: Look): Promise<DetectResult> {
  const { properties } = paramsOf(file)
  const found: Params = {}
  for (const [name, rules] of Object.entries(properties))
    if (rules['x-env'] !== undefined && look.env[rules['x-env']]) found[name] = standard(rules, look.env)
  const probes = file.detect ?? []
  const seen = probes.map((probe) => (probe.from === 'http' ? undefined : glance(probe, look, found)))
  const defaults = Object.entries(properties).map(
    ([name, rules]) => [name, standard(rules, look.env)] as const,
  )
  const tried: Params = { ...Object.fromEntries(defaults), ...found }
  const scope: Scope = { roots: tried, names: () => [] }
  const answers = await Promise.all(
    probes.map((probe, i) => (probe.from === 'http' ? answersAt(probe, look, scope) : Boolean(seen[i]))),
  )
  const told = { found: [] as string[], missing: [] as string[] }
  probes.forEach((probe, i) => {
    if (answers[i] && probe.from === 'http' && probe.param && !isEmpty(tried[probe.param]))
      found[probe.param] = tried[probe.param]
    const text = answers[i] ? probe.found : probe.missing
    const sentence = renderPlain(text ?? standardText(probe, answers[i]!), scope)
    told[answers[i] ? 'found' : 'missing'].push(sentence)
  })
  const open = Object.entries(found).filter(([name]) => !properties[name]?.['x-secret'])
  return {
    params: Object.fromEntries(open),
    ...told,
    notes: file.demo ? ['This template shows made-up data of a demo.'] : [],
  }
}

/** Looks at a variable or at the sources. @returns whether it is there; puts its value in `found`. */
function glance({ from, param, env = '', connector, field }: Probe, look: Look, found: Params): boolean {
  const source = from === 'source' ? look.sources().find((one) => one.connector === connector) : undefined
  const value = from === 'env' ? look.env[env] : field === undefined ? source?.name : source?.config[field]
  if (isEmpty(value)) return false
  if (param !== undefined) found[param] = value
  return true
}

async function answersAt({ url = '' }: Probe, look: Look, scope: Scope): Promise<boolean> {
  const address = renderPlain(url, scope)
  return URL.canParse(address) && (await look.http(address))
}

function standardText({ from, env, connector, url = '' }: Probe, isThere: boolean): string {
  if (from === 'env') return `${env} is ${isThere ? 'set' : 'not set'}.`
  if (from === 'source')
    return isThere ? `A ${connector} source is there.` : `There is no ${connector} source.`
  return isThere ? `${url} answers.` : `${url} does not answer.`
}
