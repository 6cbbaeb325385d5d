/**
 * The forms that arguments may have. Tools are declared by the schemas of schemas/mcp, and checked against
 * them; models are shown a form that every provider's function calling can hold to:
 *
 * - a map with free names is a list of {label, value}, and an object of any form its JSON text: strict
 *   schemas close every object (platform.openai.com/docs/guides/structured-outputs, Supported schemas;
 *   docs.anthropic.com, Structured outputs, JSON Schema limitations);
 * - rules that only the check needs are not shown (ai.google.dev/api/caching, Schema, has no propertyNames,
 *   uniqueItems or const); descriptions say what they mean, and a refusal names the rule.
 *
 * Both forms are taken, always, and others that can mean one thing only (schemas/argument-forms.ts).
 */
import { ArgumentFault, kindOf, taken as takenForms } from '../../schemas/argument-forms.ts'
import { ToolError } from './tool.ts'

type Json = Record<string, unknown>

/** Keywords that models are not shown. */
const CHECKS =
  /^(minLength|maxLength|pattern|minItems|maxItems|uniqueItems|propertyNames|minProperties|maxProperties|exclusiveMinimum)$/

const TEXT_HINT = 'A JSON object, as text.'

/** @param schema of a tool's arguments. @returns how models are shown it */
export function shownSchema({ description: _ofTheTool, ...schema }: Json): Json {
  return shown(schema)
}

function shown(schema: Json): Json {
  const kind = kindOf(schema)
  if (kind === 'map') {
    const { description, additionalProperties } = schema
    const properties = { label: { type: 'string' }, value: shown(additionalProperties as Json) }
    const items = { type: 'object', properties, required: ['label', 'value'], additionalProperties: false }
    return { type: 'array', description, items }
  }
  if (kind === 'free')
    return { type: 'string', description: [schema.description, TEXT_HINT].filter(Boolean).join(' ') }
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([keyword, value]) => !CHECKS.test(keyword) && !(keyword === 'required' && isEmptyList(value)))
      .map(([keyword, value]) => [
        keyword,
        keyword === 'properties'
          ? Object.fromEntries(Object.entries(value as Json).map(([name, one]) => [name, shown(one as Json)]))
          : keyword === 'items'
            ? shown(value as Json)
            : value,
      ]),
  )
}

/**
 * @param schema of the tool's arguments. @param given arguments, in any form.
 * @returns them in the form the schema has. @throws ToolError naming the field and what it takes
 */
export function taken(schema: Json, given: Json): Json {
  try {
    return takenForms(schema, given)
  } catch (error) {
    throw error instanceof ArgumentFault ? new ToolError(error.message, error.field) : error
  }
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0
