/** The setting that is there while the demo is loaded. */
export const DEMO_SETTING = 'demo'
