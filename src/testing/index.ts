/** For testing playbooks and the agents held to them: a model that follows a script, one that counts, and a journal in memory. */
export { countingModel, type CountedRequest, type CountingModel } from '../agent/question/counting-model.ts'
export { loadScriptedModel, scriptedModel, type ScriptedTurn } from '../agent/scripted-model.ts'
export { MemoryJournal } from '../journal/memory/memory-journal.ts'
