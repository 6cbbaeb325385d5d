/**
 * Which attributes of a resource become labels, and which of them is the entity (SPEC.md, Ingest and reads:
 * resource attributes become labels). Names are those of the semantic conventions of OpenTelemetry.
 */
import { scalar } from '../scalar.ts'

/** Labels of one event at most, and characters of a value: what is longer names nothing, and stays in the payload. */
const LABELS_MAX = 32
const VALUE_MAX = 256
/** In the setting: every attribute. */
const ALL = '*'

/** Where the setting does not say: who says it, where it runs, and which version. */
export const USUAL_ATTRIBUTES: readonly string[] = [
  'service.name',
  'service.namespace',
  'service.version',
  'deployment.environment.name',
  'deployment.environment',
  'host.name',
  'k8s.cluster.name',
  'k8s.namespace.name',
  'k8s.deployment.name',
  'k8s.statefulset.name',
  'k8s.daemonset.name',
  'k8s.cronjob.name',
  'k8s.pod.name',
  'container.name',
  'cloud.region',
]

/** What an event is about, the first that it has. */
const ENTITIES: readonly string[] = [
  'service.name',
  'k8s.deployment.name',
  'k8s.statefulset.name',
  'k8s.daemonset.name',
  'k8s.cronjob.name',
  'k8s.pod.name',
  'container.name',
  'host.name',
]
/** The entity of what names nothing: the source it came by. */
const SOURCE = 'source'

const NAMES: Readonly<Record<string, string>> = {
  'service.name': 'service',
  'deployment.environment.name': 'environment',
  'deployment.environment': 'environment',
}

/** The label of an attribute: its name with _ for what no label can have. */
export const labelOfAttribute = (attribute: string): string =>
  NAMES[attribute] ?? attribute.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 64)

export interface ResourceLabels {
  labels: Record<string, string>
  /** Which of them is the entity. */
  entity: string
}

/**
 * Compiles the setting into a function of a resource's attributes.
 * @param wanted attributes by name, `*` for all; undefined: the usual ones.
 * @param source name of the source.
 */
export function compileResource(
  wanted: readonly string[] = USUAL_ATTRIBUTES,
  source: string,
): (attributes: Record<string, unknown>) => ResourceLabels {
  const named = wanted.filter((name) => name !== ALL).map((name) => [name, labelOfAttribute(name)] as const)
  const isAll = wanted.includes(ALL)
  return (attributes) => {
    const labels: Record<string, string> = {}
    let count = 0
    const add = (attribute: string, label: string): void => {
      const value = Object.hasOwn(attributes, attribute) ? scalar(attributes[attribute]) : undefined
      if (value === undefined || value.length > VALUE_MAX || Object.hasOwn(labels, label)) return
      if (count++ < LABELS_MAX) labels[label] = value
    }
    const about = ENTITIES.find((name) => scalar(attributes[name]) !== undefined)
    // First of all, so that the bound never takes it.
    if (about !== undefined) add(about, labelOfAttribute(about))
    for (const [attribute, label] of named) add(attribute, label)
    if (isAll) for (const attribute of Object.keys(attributes)) add(attribute, labelOfAttribute(attribute))
    const entity = about === undefined ? SOURCE : labelOfAttribute(about)
    if (labels[entity] === undefined) labels[SOURCE] = source
    return { labels, entity: labels[entity] === undefined ? SOURCE : entity }
  }
}
