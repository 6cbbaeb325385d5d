/** The list of variables that an operator lets documents refer to. */
import { isOwnVariable } from '../engine/index.ts'
import { ConfigError } from './config-values.ts'

/** Names of variables that documents may refer to. @returns them. @throws ConfigError */
export function parseSecretNames(value: string, from: string): string[] {
  const names = value.split(',').map((name) => name.trim())
  for (const name of names.filter((one) => one !== '')) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new ConfigError(
        `${from} must be names of variables separated by commas, such as API_TOKEN,DB_URL`,
      )
    if (isOwnVariable(name))
      throw new ConfigError(`${from} must not list ${name}: svc's own variables are never sent on`)
  }
  return names
}
