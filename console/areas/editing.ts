/** What a graph is edited with beside its canvas: forms, lists, the draft; and what a replay asks by the same forms. Loaded when somebody begins. */
export { DraftPanel } from '../graph/editor/changes/draft-panel.tsx'
export { ListEditor } from '../graph/editor/list/list-editor.tsx'
export { EdgePanel } from '../graph/editor/panel/edge-panel.tsx'
export { NewPartPanel } from '../graph/editor/panel/new-part-panel.tsx'
export { NodePanel } from '../graph/editor/panel/node-panel.tsx'
export { PartPalette } from '../graph/editor/panel/part-palette.tsx'
export { WhatIf } from '../replay/fork/what-if.tsx'
