/**
 * Which operations take the headers of a write of what is declared, and which answer a version (write-by.ts reads
 * and writes them; docs/api.md). By operation id; those of old addresses are theirs with `legacy` before.
 */

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** If-Match: merged with what others wrote since that version. */
const MERGED = names(`
  updateSource updateTrigger updateAgent updateMcpServer updateSkill updateProject updateWiring
`)

/** X-SVC-Why: what is written is in the change history, or a proposal, with the reason. */
const TOLD_WHY = names(`
  createSource updateSource deleteSource pauseSource resumeSource
  createTrigger updateTrigger deleteTrigger pauseTrigger resumeTrigger
  createAgent updateAgent deleteAgent enableAgent disableAgent
  createMcpServer updateMcpServer deleteMcpServer
  createSkill updateSkill removeSkill uploadSkill useSkill
  createProject updateProject deleteProject pauseProject resumeProject repairProject
  updateWiring holdProject takeOverProject releaseProject
  applyChangeSet undoChangeSet rollBack propose importCatalog applySetup
`)

/** ETag in the answer. */
const VERSIONED = names(`
  createSource getSource updateSource
  createTrigger getTrigger updateTrigger pauseTrigger resumeTrigger
  createAgent getAgent updateAgent
  createMcpServer getMcpServer updateMcpServer
  createSkill getProjectSkill updateSkill uploadSkill useSkill
  createProject getProject updateProject pauseProject resumeProject repairProject
  getWiring updateWiring holdProject takeOverProject releaseProject
`)

/** @returns the headers an operation takes, as headers.ts has them. */
export function writeHeaders(operationId: string): ('IfMatch' | 'Why')[] {
  const id = ofToday(operationId)
  return [...(MERGED.has(id) ? ['IfMatch' as const] : []), ...(TOLD_WHY.has(id) ? ['Why' as const] : [])]
}

/** Whether an operation answers the version of what it answers. */
export const isVersioned = (operationId: string): boolean => VERSIONED.has(ofToday(operationId))

/** The header of such an answer (RFC 9110, section 8.8.3). */
export const VERSION_HEADER = {
  ETag: {
    description: 'Its version: for If-Match of a write. Absent for a key of the project.',
    schema: { type: 'string', pattern: '^"[0-9]{1,15}"$' },
  },
} as const

const ofToday = (id: string): string => id.replace(/^legacy(.)/, (_all, first: string) => first.toLowerCase())
