/** What a catalog file may say, but should not: variables that are not set, secrets in plain text. */
import type { Catalog, CatalogProblem } from '../../schemas/types.ts'
import { secretParts } from '../address-secrets.ts'
import { type Locate, textOf } from './import-run.ts'
import { isPlainAt, pathOfPlace, type SecretPlace } from './secret-places.ts'

type Env = Readonly<Record<string, string | undefined>>

/** @param places of the secrets of the catalog. @returns warnings in the order of the file */
export function warningsOf(places: readonly SecretPlace[], env: Env, locate: Locate): CatalogProblem[] {
  return places.flatMap((place) => {
    const said = warningOf(place, env)
    return said ? [{ ...locate(pathOfPlace(place)), path: textOf(pathOfPlace(place)), ...said }] : []
  })
}

function warningOf(place: SecretPlace, env: Env): Pick<CatalogProblem, 'code' | 'message'> | null {
  const { inner, value } = place
  const field = inner.at(-1)!
  const variable = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(value)?.[1]
  if (variable !== undefined)
    return env[variable]
      ? null
      : { code: 'unset_variable', message: `the variable ${variable} is not set where svc runs` }
  if (!isPlainAt(place)) return null
  if (place.isAddress)
    return {
      code: 'plain_secret',
      message: `${field} has a secret in plain text in it, ${secretParts(value).join(', ')}; where the other side takes a header, refer to a variable in the field of the credential instead`,
    }
  return {
    code: 'plain_secret',
    message: `${field} is a secret in plain text; refer to a variable as \${${variableFor(field)}} instead`,
  }
}

/** A name that an instance opens without being told to. */
const variableFor = (field: string): string => `SVC_SECRET_${field.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`

/** Said to whoever may not learn whether a secret is the one that is stored. */
export function notCompared(places: readonly SecretPlace[], locate: Locate): CatalogProblem[] {
  return places.filter(isPlainAt).map((place) => ({
    ...locate(pathOfPlace(place)),
    path: textOf(pathOfPlace(place)),
    code: 'secret_not_compared',
    message: 'is planned as a change: only an admin may learn whether it is the secret that is stored',
  }))
}

/** Whether a file declares nothing at all. */
export const isEmptyCatalog = (catalog: Catalog): boolean =>
  Object.values(catalog).every((entries) => !Array.isArray(entries) || entries.length === 0)
