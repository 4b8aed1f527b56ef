import type { ChangeMistake } from "../change.ts";

/** What the data moves in: database, network, permissions, secrets. */
export const aroundChanges: ChangeMistake[] = [
  {
    rule: "there is one database, another for each restore, and none under sst dev",
    changes: [["DatabaseInstance", "aws:rds/instance:Instance", "aws:rds/cluster:Cluster"]],
  },
  {
    rule: "a deployment can't replace production's database",
    changes: [["DatabaseInstance", '"protect":true', '"protect":false']],
  },
  {
    rule: "the database's changes wait for the maintenance window in production",
    changes: [["DatabaseInstance", '"applyImmediately":false', '"applyImmediately":true']],
  },
  {
    rule: "the database's storage can grow",
    changes: [["DatabaseInstance", '"maxAllocatedStorage":500', '"maxAllocatedStorage":50']],
  },
  {
    rule: "the database's CA is one that the functions know",
    changes: [["DatabaseInstance", "rds-ca-rsa2048-g1", "rds-ca-2019"]],
  },
  {
    rule: "the database's identifier is one that RDS takes",
    changes: [["DatabaseInstance", '"identifier":"owed-production"', '"identifier":"owed--production_"']],
  },
  {
    rule: "the parameter group is of the database's version",
    changes: [["DatabaseParameterGroup", '"postgres18"', '"postgres17"']],
  },
  {
    rule: "the database's parameters exist, and are applied as they can be",
    changes: [
      [
        "DatabaseParameterGroup",
        '"pending-reboot","name":"max_connections"',
        '"immediate","name":"max_connections"',
      ],
    ],
  },
  {
    rule: "max_connections fits into the instance's memory",
    changes: [
      [
        "DatabaseParameterGroup",
        '"name":"max_connections","value":"100"',
        '"name":"max_connections","value":"1000"',
      ],
    ],
  },
  {
    rule: "no RDS Proxy stands between: sessions would be pinned, and paid for twice",
    changes: [["DatabaseSubnetGroup", "aws:rds/subnetGroup:SubnetGroup", "aws:rds/proxy:Proxy"]],
  },
  {
    rule: "the database is in private subnets of two zones",
    changes: [["DatabaseSubnetGroup", "VpcPrivateSubnet2", "VpcPublicSubnet2"]],
  },
  {
    rule: "the database is in private subnets of two zones",
    changes: [["DatabaseSubnetGroup", '"VpcPrivateSubnet2-id"', '"VpcPrivateSubnet1-id"']],
  },
  {
    rule: "the bastion is there for the named networks alone",
    changes: [
      ["AlarmKey", '"aws:kms/key:Key","name":"AlarmKey"', '"aws:ec2/instance:Instance","name":"VpcBastion"'],
    ],
  },
  {
    rule: "NAT is there when the settings ask for it, in each zone, and not otherwise",
    changes: [["AlarmKey", "aws:kms/key:Key", "aws:ec2/natGateway:NatGateway"]],
  },
  {
    rule: "functions reach every service that they call",
    changes: [["VpcSqsEndpoint", '"privateDnsEnabled":true', '"privateDnsEnabled":false']],
  },
  {
    rule: "an endpoint lets this account's functions ask for what they need",
    changes: [["VpcEmailEndpoint", "ses:GetSendQuota", "ses:GetAccount"]],
  },
  {
    rule: "an operator may do exactly what a redrive, a pause and the ledger need",
    changes: [["Operator", "sqs:StartMessageMoveTask", "sqs:PurgeQueue"]],
  },
  {
    rule: "the platform may put events on the bus, log in as its own role, and nothing else",
    changes: [["Platform", "/owed_platform", "/owed_operator"]],
  },
  {
    rule: "the platform may put events on the bus, log in as its own role, and nothing else",
    changes: [["Platform", "event-bus/owed-production", "event-bus/default"]],
  },
  {
    rule: "the database lets in the functions, the bastion and its named clients, and nobody else",
    changes: [
      ["DatabaseSecurityGroup", '"securityGroups":["', '"cidrBlocks":["10.0.0.0/16"],"securityGroups":["'],
    ],
  },
  {
    rule: "each function may do exactly what it does",
    changes: [["DeliverRole", "/owed_deliver", "/owed_operator"]],
  },
  {
    rule: "each function has a role of its own",
    changes: [["IngestFunction", "owed-production-IngestRole", "owed-production-SweepRole"]],
  },
  {
    rule: "no password is anywhere but where it is kept",
    changes: [
      [
        "AlarmKey",
        '"aws:kms/key:Key","name":"AlarmKey"',
        '"random:index/randomPassword:RandomPassword","name":"Login"',
      ],
      ["AlarmTopic", '"name":"owed-production-alarm"', '"name":"secret-of-Login"'],
    ],
  },
  {
    rule: "no password is shown after a deployment",
    changes: [
      [
        "AlarmKey",
        '"aws:kms/key:Key","name":"AlarmKey"',
        '"random:index/randomPassword:RandomPassword","name":"Login"',
      ],
      ["outputs", '"bus":"owed-production"', '"bus":"secret-of-Login"'],
    ],
  },
  {
    rule: "whoever publishes, and deliver, are linked to the settings, and nobody else",
    changes: [["function Ingest", '"Settings":', '"Options":']],
  },
  {
    rule: "each function may do exactly what it does",
    changes: [["IngestRole", "sqs:SendMessage", "sqs:SendMessageBatch"]],
  },
  {
    rule: "only migrate is linked to the master's secret",
    changes: [
      ["function Sweep", '"Settings":', '"MasterSecret":{"arn":"arn:aws:secretsmanager"},"Settings":'],
    ],
  },
  {
    rule: "functions log in to the database by IAM",
    changes: [
      [
        "DatabaseInstance",
        '"iamDatabaseAuthenticationEnabled":true',
        '"iamDatabaseAuthenticationEnabled":false',
      ],
    ],
  },
  {
    rule: "the database's parameters exist, and are applied as they can be",
    changes: [["DatabaseParameterGroup", "random_page_cost", "random_page_costs"]],
  },
  {
    rule: "functions are let in to the endpoints and to the database",
    changes: [["DatabaseSecurityGroup", "5432", "5433"]],
  },
  {
    rule: "each function may do exactly what it does",
    changes: [["SweepRole", "sqs:SendMessage", "sqs:PurgeQueue"]],
  },
  {
    rule: "a queue lets in EventBridge by its own rules, SNS by its own topic, and nobody else",
    changes: [["EventQueuePolicy", "aws:SourceArn", "aws:SourceAccount"]],
  },
  {
    rule: "no password is linked to a function",
    changes: [["function Deliver", '"auth":"iam"', '"auth":"iam","password":"correct-horse"']],
  },
];
