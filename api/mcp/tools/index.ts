/** Every tool of the MCP server, in the order in which they are listed. */
import type { Tool } from '../tool.ts'
import { catalogDescribe, catalogList } from './catalog.ts'
import { conclude } from './conclude.ts'
import { finishProject, holdProject, releaseProject } from './crew.ts'
import { discoverSource } from './discover.ts'
import { listEntities, neighbours } from './entities.ts'
import { getEvent, why } from './events.ts'
import { getFinding, listFindings, recordFinding } from './findings.ts'
import { acknowledgeIncident, getIncident, handleIncident, listIncidents } from './incidents.ts'
import { changed, document, series, trace } from './look.ts'
import { getPart } from './parts.ts'
import { joinProject, leaveProject, listProjects, projectTimeline } from './projects.ts'
import { applyChange, getProposal, proposeChange, undoChange, withdrawProposal } from './proposals.ts'
import { read } from './read.ts'
import { remember } from './remember.ts'
import { getRun, listRuns } from './runs.ts'
import { listSkills, skill } from './skills.ts'
import { createSource, discoverDocker, listConnectors, testSource } from './source-writes.ts'
import { listSources, sourceFields } from './sources.ts'
import { stats } from './stats.ts'
import { ackFiring, extendLease, waitForFiring } from './waiting.ts'

export const tools: readonly Tool[] = [
  changed,
  read,
  series,
  trace,
  stats,
  listEntities,
  neighbours,
  getEvent,
  document,
  why,
  listIncidents,
  getIncident,
  acknowledgeIncident,
  handleIncident,
  listProjects,
  projectTimeline,
  listFindings,
  getFinding,
  recordFinding,
  remember,
  listSkills,
  skill,
  listRuns,
  getRun,
  waitForFiring,
  conclude,
  ackFiring,
  extendLease,
  joinProject,
  leaveProject,
  holdProject,
  releaseProject,
  finishProject,
  catalogList,
  catalogDescribe,
  listSources,
  sourceFields,
  listConnectors,
  discoverDocker,
  discoverSource,
  testSource,
  createSource,
  getPart,
  proposeChange,
  getProposal,
  withdrawProposal,
  applyChange,
  undoChange,
]
