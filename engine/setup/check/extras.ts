/** Tools and know-how of a plan. */
import type { Plan, PlanSkill, PlanTool } from '../../../schemas/types.ts'
import { checkName } from '../../declared/write.ts'
import { normaliseMcpServer } from '../../parts/mcp-server-spec.ts'
import { checkSkillName, normaliseSkill } from '../../skills/skill-rules.ts'
import { heeding, type Report, tellDuplicates } from './found.ts'
import type { SetupWorld } from './world.ts'

const SKILLS_MAX = 2

export function checkTools(plan: Plan, world: SetupWorld, report: Report): PlanTool[] {
  tellDuplicates(report, 'tools', plan.tools)
  for (const { key, name, url, enabled, existing } of plan.tools) {
    const where = `tools.${key}`
    if (existing) {
      if (!world.has('mcp_server', name)) report(where, `no MCP server is named ${name || 'nothing'}`)
      continue
    }
    heeding(report, where, () => checkName('mcp_server', name))
    if (url) heeding(report, where, () => normaliseMcpServer({ url }))
    else if (enabled) report(where, 'url is required to turn it on')
  }
  return plan.tools
}

export function checkSkills(plan: Plan, world: SetupWorld, report: Report): PlanSkill[] {
  tellDuplicates(report, 'skills', plan.skills)
  if (plan.skills.length > SKILLS_MAX)
    report('skills', `there are ${plan.skills.length} skills; at most ${SKILLS_MAX} are in a plan`)
  return plan.skills.map((skill) => {
    const where = `skills.${skill.key}`
    if (skill.existing) {
      if (!world.has('skill', skill.name)) report(where, `no skill is named ${skill.name || 'nothing'}`)
      return skill
    }
    heeding(report, where, () => checkSkillName(skill.name))
    return { ...skill, ...(heeding(report, where, () => normaliseSkill(skill)) ?? {}) }
  })
}
