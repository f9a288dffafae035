/**
 * Who may import whom. Arrows go down only:
 *   extension → editor, dashboard → planner, solve, what-if, compare, simulate, report → launch, core;  cli → planner, solve, compare, simulate, report
 *   webview → dashboard/protocol, core/pool, core/units
 * `npm run layers` also plants one violation of every rule and fails unless each is reported.
 */
const ENGINE = '^src/core/engines/[^/]+/';
/** Of an engine a reader sees its option table and the words that start it. */
const ENGINE_TABLES = '^src/core/engines/[^/]+/(options|start)\\.ts$';

module.exports = {
  forbidden: [
    {
      name: 'core-imports-nothing-above',
      severity: 'error',
      from: { path: '^src/core/' },
      to: { path: '^(src/(?!core/)|webview/|test/|scripts/)' },
    },
    {
      name: 'an-engine-never-imports-another',
      severity: 'error',
      from: { path: '^src/core/engines/([^/]+)/' },
      to: { path: ENGINE, pathNot: '^src/core/engines/$1/' },
    },
    {
      name: 'launch-sees-only-option-tables-and-units',
      comment: 'What is one level up in engines/ is the shared interface and the list of engines.',
      severity: 'error',
      from: { path: '^src/launch/' },
      to: {
        path: '^(src|webview|test|scripts)/',
        pathNot: ['^src/launch/', '^src/core/engines/[^/]+\\.ts$', ENGINE_TABLES, '^src/core/units\\.ts$'],
      },
    },
    {
      name: 'planner-and-report-stay-below-the-faces',
      severity: 'error',
      from: {
        path: '^src/(planner(\\.ts|/)|solve(\\.ts|/)|what-if(\\.ts|/)|compare(\\.ts|/)|simulate(\\.ts|/)|report/)',
      },
      to: {
        path: '^(src|webview|test|scripts)/',
        pathNot:
          '^src/(core/|launch/|planner(\\.ts|/)|solve(\\.ts|/)|what-if(\\.ts|/)|compare(\\.ts|/)|simulate(\\.ts|/)|report/)',
      },
    },
    {
      name: 'planner-does-not-render',
      severity: 'error',
      from: { path: '^src/(planner|solve|what-if|compare|simulate)(\\.ts|/)' },
      to: { path: '^src/report/' },
    },
    {
      name: 'editor-and-dashboard-do-not-meet-cli-or-webview',
      severity: 'error',
      from: { path: '^src/(editor|dashboard)/' },
      to: { path: '^(src/(cli/|extension\\.ts)|webview/|test/|scripts/)' },
    },
    {
      name: 'cli-uses-planner-and-report',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^(src/(editor/|dashboard/|extension\\.ts)|webview/|test/|scripts/)' },
    },
    {
      name: 'webview-sees-protocol-pool-and-units',
      severity: 'error',
      from: { path: '^webview/' },
      to: {
        path: '^(src|test|scripts)/',
        pathNot: ['^src/dashboard/protocol\\.ts$', '^src/core/pool/', '^src/core/units\\.ts$'],
      },
    },
    {
      name: 'protocol-sees-only-pool-and-units',
      comment: 'The page bundles what the protocol imports. Types cost nothing, and say what the messages hold.',
      severity: 'error',
      from: { path: '^src/dashboard/protocol(\\.ts$|/)' },
      to: {
        path: '^src/',
        pathNot: ['^src/core/pool/', '^src/core/units\\.ts$', '^src/dashboard/protocol/'],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'toolkit-only-behind-ui',
      severity: 'error',
      from: { pathNot: '^webview/ui/' },
      to: { path: 'webview-ui-toolkit' },
    },
    {
      name: 'vscode-only-in-the-editor-faces',
      severity: 'error',
      from: { path: '^(src|webview)/', pathNot: '^src/(extension\\.ts|editor/|dashboard/)' },
      to: { path: '(^|node_modules/@types/)vscode(/|$)' },
    },
    {
      name: 'no-node-outside-the-command-line',
      comment: 'One source serves the Node host and the web worker host.',
      severity: 'error',
      from: { path: '^(src|webview)/', pathNot: '^src/cli/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-circle',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'only-what-is-declared',
      severity: 'error',
      from: { path: '^(src|webview)/' },
      to: { dependencyTypes: ['unknown', 'undetermined', 'npm-no-pkg', 'npm-unknown'], pathNot: '^vscode$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      mainFields: ['module', 'main', 'types'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'types'],
    },
  },
};
