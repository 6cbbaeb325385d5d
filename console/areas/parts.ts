/** What watches and looks: triggers, agents, tools, skills. One chunk: whoever opens one of these pages opens the next without waiting. */

export { default as AgentPage } from '../pages/agents/agent-page.tsx'
export { default as AgentsPage } from '../pages/agents/agents-page.tsx'
export { default as EntitiesPage } from '../pages/entities/entities-page.tsx'
export { default as EntityPage } from '../pages/entities/entity-page.tsx'
export { default as McpServerPage } from '../pages/mcp-servers/mcp-server-page.tsx'
export { default as McpServersPage } from '../pages/mcp-servers/mcp-servers-page.tsx'
export { default as SkillPage } from '../pages/skills/skill-page.tsx'
export { default as SkillsPage } from '../pages/skills/skills-page.tsx'
export { default as TriggerPage } from '../pages/triggers/trigger-page.tsx'
export { default as TriggersPage } from '../pages/triggers/triggers-page.tsx'
