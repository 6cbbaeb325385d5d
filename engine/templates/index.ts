/** Templates of projects, which are data (catalog/README.md), and what is made of them. */
export { actionOf, renderAction } from './action.ts'
export { describeTemplate, missingConnectors } from './describe.ts'
export { detectTemplate, type Look } from './detect.ts'
export { checkParams, type Params, secretParams } from './params.ts'
export { type KeptNames, planTemplate } from './plan.ts'
export { readTemplates } from './read-templates.ts'
