/** The form of an action of a project: what it asks for, with what the project knows of it. */

type Schema = Record<string, unknown> & {
  properties?: Record<string, Record<string, unknown>>
  required?: string[]
}

/**
 * An argument that entries of a list of the project have, such as one of its repositories, is chosen of those.
 * @param params of the project
 */
export function withChoices(schema: Schema, params: Record<string, unknown>): Schema {
  const lists = Object.values(params).filter((value) => Array.isArray(value)) as Record<string, unknown>[][]
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const known = lists.flatMap((list) =>
      list.flatMap((entry) => (entry?.[name] === undefined ? [] : [entry[name]])),
    )
    const isOpen = property.type === 'string' && property.enum === undefined && known.length > 0
    return [name, isOpen ? { ...property, enum: [...new Set(known)] } : property] as const
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

/** Whether everything that must be there is there. */
export const isFilledIn = ({ required = [] }: Schema, args: Record<string, unknown>): boolean =>
  required.every((name) => args[name] !== undefined && args[name] !== '')
