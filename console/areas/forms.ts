/** Where triggers, agents and sources are written. One chunk: their forms have the same fields, and lists need none of them. */
export { AgentEditor } from '../pages/agents/agent-editor.tsx'
export { default as NewSourcePage } from '../pages/sources/new-source-page.tsx'
export { SettingsTab } from '../pages/sources/settings-tab.tsx'
export { TriggerEditor } from '../pages/triggers/trigger-editor.tsx'
