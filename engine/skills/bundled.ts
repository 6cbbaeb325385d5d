/** The skill that is shipped with svc: catalog/skills/svc/SKILL.md. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Path of the file. The build copies catalog/ beside the bundle; from source it is at the root. */
export function bundledSkillFile(): string {
  const beside = fileURLToPath(new URL('./catalog/skills/svc/SKILL.md', import.meta.url))
  return existsSync(beside)
    ? beside
    : fileURLToPath(new URL('../../catalog/skills/svc/SKILL.md', import.meta.url))
}
