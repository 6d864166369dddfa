-- A session in Neovim: prints, as JSON, the diagnostics of the opened buffer at each step.
local steps = {}

local function code_of(found)
  return found.code or found.user_data.lsp.code
end

local function shown()
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, { line = each.lnum, code = code_of(each), message = each.message })
  end
  return found
end

local function step(name, holds)
  local came = vim.wait(120000, function() return holds(shown()) end, 50)
  table.insert(steps, { name = name, came = came, shown = shown() })
end

local function some(found) return #found > 0 end
local function none(found) return #found == 0 end

local client = vim.lsp.start_client({ name = "analyze", cmd = vim.json.decode(vim.env.COMMAND), root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, client)
step("opened", some)
local at = shown()[1].line
local line = vim.api.nvim_buf_get_lines(0, at, at + 1, true)[1]
vim.api.nvim_buf_set_lines(0, at, at + 1, true, { '    print(command)' })
step("typed", none)
vim.api.nvim_buf_set_lines(0, at, at + 1, true, { line })
step("taken back", some)

vim.api.nvim_win_set_cursor(0, { at + 1, 6 })
local params = vim.lsp.util.make_range_params()
local found = vim.diagnostic.get(0, { lnum = at })[1]
params.context = { diagnostics = { {
  range = { start = { line = found.lnum, character = found.col }, ["end"] = { line = found.end_lnum, character = found.end_col } },
  code = code_of(found), source = found.source, message = found.message,
} } }
local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 120000)
local action = answers[client].result[1]
vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
local comment = vim.api.nvim_buf_get_lines(0, at, at + 1, true)[1]
vim.api.nvim_buf_set_lines(0, at, at + 1, true, { comment .. "tried" })
step("suppressed", none)

io.stdout:write(vim.json.encode(steps) .. "\n")
vim.lsp.stop_client(client)
vim.cmd("qall!")
