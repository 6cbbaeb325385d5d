/**
 * Where triggers, agents and sources are written, and what pages open on top of them with fields that they have no other
 * use for. One chunk: their forms have the same fields, and lists need none of them.
 */
export { AgentEditor } from '../pages/agents/agent-editor.tsx'
export { ImportTab } from '../pages/catalog/import-tab.tsx'
export { DeleteProject } from '../pages/projects/delete-project.tsx'
export { RerunDialog } from '../pages/runs/rerun-dialog.tsx'
export { DeleteSource } from '../pages/sources/delete-source.tsx'
export { default as NewSourcePage } from '../pages/sources/new-source-page.tsx'
export { SettingsTab } from '../pages/sources/settings-tab.tsx'
export { TriggerEditor } from '../pages/triggers/trigger-editor.tsx'
