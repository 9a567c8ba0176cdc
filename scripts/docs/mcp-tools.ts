/** The tools of the MCP server. */
import { createTools } from '../../packages/mcp/src/tools/index.ts';
import { table } from './markdown.ts';

export const mcpToolsTable = (): string =>
  table(
    ['Tool', 'What it does', 'Changes something'],
    createTools().map(({ name, config }) => [
      `\`${name}\``,
      config.description,
      config.annotations.readOnlyHint === true ? '' : 'yes',
    ]),
  );
